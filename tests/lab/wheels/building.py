"""Builds the two packages, and installs them as a user would: into an environment without this repository."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROJECTS = {"stepward": ROOT, "stepward_cdk": ROOT / "infra"}
_UV = ROOT / ".venv-tools" / "bin" / "uv"
_PASSED_ON = ("HOME", "LANG", "PATH", "UV_CACHE_DIR", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "SSL_CERT_FILE")


def build(folder: Path) -> Mapping[str, Path]:
    """Both wheels, built in `folder`, by the name of their package."""
    for project in PROJECTS.values():
        run([sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)], project)
    return {name: next(folder.glob(f"{name}-*.whl")) for name in PROJECTS}


def install(wheels: Mapping[str, Path], folder: Path) -> Path:
    """Install the wheels and their dependencies, each checked by its hash, into a new environment; its `bin`."""
    extras = {"stepward": "[cli,local,testing]", "stepward_cdk": ""}
    lines = [
        f"{name}{extras[name]} @ {wheel.as_uri()} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}"
        for name, wheel in wheels.items()
    ]
    wanted = folder / "wanted.txt"
    wanted.write_text("\n".join(lines))
    environment = folder / "environment"
    run([str(_UV), "venv", "--quiet", "--python", sys.executable, str(environment)], folder)
    lists = ["--requirement", str(wanted), "--constraint", str(ROOT / "requirements" / "dev.txt")]
    run([str(_UV), "pip", "install", "--quiet", "--python", str(environment), "--require-hashes", *lists], folder)
    return environment / "bin"


def run(command: Sequence[str], folder: Path, **around: str) -> str:
    """What `command` prints in `folder`; it sees only `around` and the variables that every program needs."""
    needed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    done = subprocess.run(  # noqa: S603 - our own commands
        command, cwd=folder, env={**needed, **around}, capture_output=True, text=True, check=False, timeout=600
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed ({done.returncode}):\n{done.stdout}\n{done.stderr}")
    return done.stdout
