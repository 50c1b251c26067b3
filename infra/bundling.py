"""The code that all functions share: built by uv, without Docker, once for each set of sources."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from infra.interpreter import ROOT
from infra.settings import BOTO_SERVICES, RUNTIME, WHEEL_PLATFORM
from stepward.domain.errors import Misconfigured

_LEFT_OUT = ("stepward/cli", "stepward/local", "stepward/testing")
_ON_LAMBDA = "/var/task"
_THIS_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A folder to deploy, and the hash of everything it was made from."""

    path: Path
    content_hash: str


def bundle(platform: str, *, root: Path = ROOT) -> Bundle:
    """The bundle of the project at `root` for `platform` (aws, or local for this machine), built if it is new."""
    compiler = sys.executable if platform == "local" else _find_python(root, RUNTIME)
    content_hash = _hash(root, platform, compiler)
    folder = root / "build" / f"bundle-{platform}"
    path = folder / content_hash
    if not path.exists():
        if not compiler:
            sys.stderr.write(
                f"The bundle is not byte-compiled: no Python {RUNTIME} was found, so cold starts take longer. "
                f"`uv python install {RUNTIME}` brings one.\n"
            )
        _build(root, platform, compiler, path)
        _forget_others(folder, path)
    return Bundle(path, content_hash)


def _build(root: Path, platform: str, compiler: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=path.parent) as made:
        target = Path(made) / "bundle"
        _install(root, platform, target)
        _strip(target)
        for source in _sources(root / "functions"):
            copy = target / source.relative_to(root / "functions")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
        if compiler:
            _compile(compiler, target)
        if not path.exists():  # another synth may have been faster
            target.rename(path)


def _install(root: Path, platform: str, target: Path) -> None:
    wheels = ["--python-platform", WHEEL_PLATFORM, "--python-version", RUNTIME] if platform == "aws" else []
    checked = ["--require-hashes", "--only-binary", ":all:"]
    place = ["--python", sys.executable, "--target", str(target)]
    requirements = ["--requirement", str(root / "requirements" / "functions.txt")]
    _run([_uv(root), "pip", "install", "--quiet", *place, *checked, *wheels, *requirements])


def _strip(target: Path) -> None:
    """Remove what no function reads: scripts, package records, and the models of AWS services that are not used."""
    unused = [target / "bin", target / "boto3" / "examples", *target.glob("*.dist-info"), *target.glob("*/tests")]
    models = [*target.glob("botocore/data/*/"), *target.glob("boto3/data/*/")]
    unused += [model for model in models if model.name not in BOTO_SERVICES]
    for folder in unused:
        shutil.rmtree(folder, ignore_errors=True)
    (target / ".lock").unlink(missing_ok=True)


def _compile(compiler: str, target: Path) -> None:
    """Compile as Lambda would on every cold start; unchecked, because nothing changes after deployment."""
    options = ["-q", "--invalidation-mode", "unchecked-hash", "-s", str(target), "-p", _ON_LAMBDA]
    _run([compiler, "-I", "-m", "compileall", *options, str(target)])


def _sources(functions: Path) -> Iterator[Path]:
    """Every file of ours that a function may need, in a fixed order."""
    for path in sorted(functions.rglob("*")):
        inside = path.relative_to(functions)
        left_out = any(inside.is_relative_to(folder) for folder in _LEFT_OUT)
        if path.is_file() and not left_out and "__pycache__" not in inside.parts:
            yield path


def _hash(root: Path, platform: str, compiler: str) -> str:
    made_for = f"{sys.platform}-{os.uname().machine}-{_THIS_PYTHON}" if platform == "local" else WHEEL_PLATFORM
    digest = hashlib.sha256("\0".join([platform, made_for, RUNTIME, str(bool(compiler)), *BOTO_SERVICES]).encode())
    parts = [*_sources(root / "functions"), root / "requirements" / "functions.txt", Path(__file__)]
    for path in parts:
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        digest.update(f"\0{name}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _forget_others(folder: Path, kept: Path) -> None:
    for other in folder.iterdir():
        if other != kept and not other.name.startswith("new-"):
            shutil.rmtree(other, ignore_errors=True)


def _find_python(root: Path, version: str) -> str:
    if version == _THIS_PYTHON:
        return sys.executable
    command = [_uv(root), "python", "find", "--quiet", "--no-python-downloads", version]
    found = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - uv, and our own words
    return found.stdout.strip() if found.returncode == 0 else ""


def _uv(root: Path) -> str:
    own = root / ".venv-tools" / "bin" / "uv"
    found = str(own) if own.exists() else shutil.which("uv")
    if not found:
        raise Misconfigured("uv is neither in .venv-tools/bin nor on PATH; `make env` puts it into the project")
    return found


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - built in this file
    if done.returncode:
        raise Misconfigured(f"{Path(command[0]).name} failed ({done.returncode}): {done.stderr.strip()[-2000:]}")
