"""A Python environment for each peer, made at its first use from pinned and hash-checked packages."""

import hashlib
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.lab.results import ROOT

UV = ROOT / ".venv-tools" / "bin" / "uv"
MADE_WITHIN_S = 300
LOCK = "python -m tests.lab.benchmarks.peers --lock"
NAMES = ("durable", "dbos", "temporal", "moto")


class Unavailable(Exception):
    """A peer cannot be installed or run here; the message says why."""


def python_of(name: str) -> Path:
    """The interpreter of the environment of peer `name`, with its pinned packages; raises Unavailable."""
    folder, pinned = ROOT / "build" / "peers" / name, _pinned(name)
    if not pinned.exists():
        raise Unavailable(f"{pinned.relative_to(ROOT)} is missing; make it with `{LOCK}`")
    python, ready = folder / "bin" / "python", folder / ".ready"
    if ready.exists() and ready.read_text() == _fingerprint(pinned):
        return python
    if not UV.exists():
        raise Unavailable("uv is not installed; run `make env` first")
    if not python.exists():
        _run("venv", "--python", str(UV.with_name("python")), str(folder))
    _run("pip", "sync", "--python", str(python), "--require-hashes", str(pinned))
    ready.write_text(_fingerprint(pinned))
    return python


def lock() -> None:
    """Pin the newest allowed versions of every peer's packages, with their hashes."""
    options = ["--universal", "--python-version", "3.11", "--generate-hashes", "--upgrade"]
    for name in NAMES:
        pinned = _pinned(name).relative_to(ROOT)
        command = ["--custom-compile-command", LOCK, str(pinned.with_suffix(".in")), "-o", str(pinned)]
        _run("pip", "compile", *options, *command)


def _pinned(name: str) -> Path:
    return ROOT / "requirements" / f"peers-{name}.txt"


def _fingerprint(pinned: Path) -> str:
    return hashlib.sha256(pinned.read_bytes()).hexdigest()


def _run(*words: str) -> None:
    output_of([str(UV), "--quiet", *words], MADE_WITHIN_S, f"uv {words[0]}")


def output_of(command: Sequence[str], seconds: float, what: str, env: Mapping[str, str] | None = None) -> str:
    """What a program prints; raises Unavailable with the last line of its complaint."""
    piped: dict[str, Any] = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    try:
        done = subprocess.run(command, cwd=ROOT, env=env, timeout=seconds, check=True, **piped)  # noqa: S603 - our own
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{what} did not end within {seconds:g} s") from error
    except subprocess.CalledProcessError as error:
        *_, why = str(error.stderr).strip().splitlines() or [f"exit code {error.returncode}"]
        raise Unavailable(f"{what} failed: {why.strip()}") from error
    return str(done.stdout)
