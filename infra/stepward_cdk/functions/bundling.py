"""The code that all functions share: built by uv, without Docker, once for each set of sources."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import distributions, requires
from pathlib import Path, PurePosixPath

import stepward
from stepward.domain.errors import Misconfigured
from stepward.project import Project
from stepward_cdk.settings.settings import BOTO_SERVICES, RUNTIME, WHEEL_PLATFORM

_ENGINE = Path(stepward.__file__).parent
_LEFT_OUT = (
    "stepward/cli",
    "stepward/console",
    "stepward/local",
    "stepward/operator",
    "stepward/testing",
    "stepward/app_checks.py",
    "stepward/project.py",
)
_ON_LAMBDA = "/var/task"
_COMPILING = Path(__file__).with_name("compiling.py")
_THIS_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A folder to deploy, and the hash of everything it was made from."""

    path: Path
    content_hash: str


@dataclass(frozen=True, slots=True)
class Needs:
    """The functions' requirements; `pinned` holds the versions of what `wanted` needs in turn."""

    wanted: str
    pinned: str = ""

    @classmethod
    def of(cls, project: Project) -> Needs:
        """The project's own list with its hashes; else what it and the engine need, as installed here."""
        if (own := project.root / "requirements" / "functions.txt").exists():
            return cls(own.read_text())
        wanted = [need for need in requires("stepward") or [] if "extra ==" not in need]
        wanted += [need for need in project.dependencies if not need.startswith("stepward")]  # neither engine nor CDK
        present = sorted({f"{package.name}=={package.version}" for package in distributions()})
        return cls("\n".join(wanted), "\n".join(present))

    def install(self, target: Path, beside: Path, uv: str, platform: str) -> None:
        """Install all into `target`; the lists for it are written to `beside`."""
        for name, text in (("wanted", self.wanted), ("pinned", self.pinned)):
            (beside / name).write_text(text)
        wheels = ["--python-platform", WHEEL_PLATFORM, "--python-version", RUNTIME] if platform == "aws" else []
        checked = ["--only-binary", ":all:", *([] if self.pinned else ["--require-hashes"])]
        where = ["--python", sys.executable, "--target", str(target)]
        lists = ["--requirement", str(beside / "wanted"), "--constraint", str(beside / "pinned")]
        _run([uv, "pip", "install", "--quiet", *where, *checked, *wheels, *lists])


def bundle(platform: str, project: Project) -> Bundle:
    """The project's bundle for `platform` (aws, or local for this machine), built unless it exists."""
    uv = find_uv(project.root)
    compiler = sys.executable if platform == "local" else find_python(uv, RUNTIME)
    sources, needs = dict(_sources(project)), Needs.of(project)
    content_hash = _hash(sources, needs, platform, compiler)
    folder = project.root / "build" / f"bundle-{platform}"
    path = folder / content_hash
    if not path.exists():
        if not compiler:
            sys.stderr.write(
                f"The bundle is not byte-compiled: no Python {RUNTIME} was found, so cold starts take longer. "
                f"`uv python install {RUNTIME}` brings one.\n"
            )
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="new-", dir=folder) as made:
            target = Path(made) / "bundle"
            needs.install(target, Path(made), uv, platform)
            _fill(target, sources)
            if compiler:
                _compile(compiler, target)
            if not path.exists():  # another synthesis may have been faster
                target.rename(path)
        _delete_others(folder, path)
    return Bundle(path, content_hash)


def _fill(target: Path, sources: Mapping[str, Path]) -> None:
    _strip(target)
    for name, source in sources.items():
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)


def _strip(target: Path) -> None:
    """Remove what no function reads: scripts, package records, and the models of unused AWS services."""
    unused = [
        target / "bin",
        target / "stepward",
        target / "boto3" / "examples",
        *target.glob("*.dist-info"),
        *target.glob("*/tests"),
    ]
    models = [*target.glob("botocore/data/*/"), *target.glob("boto3/data/*/")]
    unused += [model for model in models if model.name not in BOTO_SERVICES]
    for folder in unused:
        shutil.rmtree(folder, ignore_errors=True)
    (target / ".lock").unlink(missing_ok=True)
    _prune_endpoints(target / "botocore" / "data" / "endpoints.json")


def _prune_endpoints(file: Path) -> None:
    """Keep all regions, but only for the services in use: parsing those of all takes a tenth of a cold start."""
    if file.exists():
        known = json.loads(file.read_text())
        for partition in known["partitions"]:
            services = partition["services"]
            partition["services"] = {name: services[name] for name in BOTO_SERVICES if name in services}
        file.unlink()  # uv links it: to write into it would change it in every environment
        file.write_text(json.dumps(known, separators=(",", ":")))


def _compile(compiler: str, target: Path) -> None:
    """Compile what Lambda would compile on every cold start; unchecked, because nothing changes after deployment."""
    _run([compiler, "-I", str(_COMPILING), str(target), _ON_LAMBDA])


def _sources(project: Project) -> Iterator[tuple[str, Path]]:
    """Every file of the application and the engine that a function may need, by its name, in a fixed order."""
    roots = {"": project.functions}
    if not (project.functions / "stepward").exists():  # other projects install the engine
        roots["stepward/"] = _ENGINE
    for prefix, root in roots.items():
        for path in sorted(root.rglob("*")):
            name = PurePosixPath(prefix + path.relative_to(root).as_posix())
            left_out = any(name.is_relative_to(folder) for folder in (*_LEFT_OUT, *project.not_bundled))
            if path.is_file() and not left_out and "__pycache__" not in name.parts:
                yield str(name), path


def _hash(sources: Mapping[str, Path], needs: Needs, platform: str, compiler: str) -> str:
    made_for = f"{sys.platform}-{os.uname().machine}-{_THIS_PYTHON}" if platform == "local" else WHEEL_PLATFORM
    settings = [platform, made_for, RUNTIME, str(bool(compiler)), *BOTO_SERVICES, needs.wanted, needs.pinned]
    digest = hashlib.sha256("\0".join(settings).encode())
    for name, path in {**sources, "": Path(__file__), "compiling": _COMPILING}.items():
        digest.update(f"\0{name}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _delete_others(folder: Path, current: Path) -> None:
    for other in folder.iterdir():
        if other != current and not other.name.startswith("new-"):
            shutil.rmtree(other, ignore_errors=True)


def find_python(uv: str, version: str) -> str:
    """The interpreter of this version on this machine, or nothing."""
    if version == _THIS_PYTHON:
        return sys.executable
    command = [uv, "python", "find", "--quiet", "--no-python-downloads", version]
    found = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - uv, and our own arguments
    if found.returncode == 0:
        return found.stdout.strip()
    # A shim of pyenv, for a version that nobody chose, ends uv's search.
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return str(next(pyenv.glob(f"versions/{version}.*/bin/python"), ""))


def find_uv(root: Path) -> str:
    """The uv that builds bundles; raises Misconfigured."""
    own = root / ".venv-tools" / "bin" / "uv"
    found = str(own) if own.exists() else shutil.which("uv")
    if not found:
        raise Misconfigured("uv, which builds the bundle, is neither in .venv-tools/bin nor on PATH; type make env")
    return found


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - built in this file
    if done.returncode:
        why = f"{Path(command[0]).name} failed ({done.returncode}): {done.stderr.strip()[-2000:]}"
        raise Misconfigured(
            f"the bundle cannot be built; check `dependencies` in pyproject.toml, and the network. {why}"
        )
