"""Merges what changed in a template into a project: three ways, file by file, as git merges."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from stepward.cli.new.rendering import files_of
from stepward.cli.user_error import UserError

_CONFLICTS_AT_MOST = 127


class Outcome(StrEnum):
    """What the update did with a file."""

    ADDED = "added"
    UPDATED = "updated"
    MERGED = "merged"
    REMOVED = "removed"
    KEPT = "kept"
    """The template has dropped a file that the project has changed."""
    CONFLICT = "conflict"


def update(project: Path, old: Path, fresh: Path) -> Mapping[Path, Outcome]:
    """Apply to `project` what differs between the renderings `old` and `fresh`; what was done with each file."""
    outcomes: dict[Path, Outcome] = {}
    for file in sorted({*files_of(old), *files_of(fresh)}):
        was, becomes = _read(old / file), _read(fresh / file)
        if was != becomes and (outcome := _apply(project / file, was, becomes, (old / file, fresh / file))):
            outcomes[file] = outcome
    return outcomes


def _apply(mine: Path, was: bytes | None, becomes: bytes | None, sides: tuple[Path, Path]) -> Outcome | None:
    has = _read(mine)
    if has == becomes or (has is None and was is not None):
        return None  # done already, or the project does without this file
    if becomes is None:
        return _drop(mine) if has == was else Outcome.KEPT
    if has is None or has == was:
        mine.parent.mkdir(parents=True, exist_ok=True)
        mine.write_bytes(becomes)
        return Outcome.ADDED if has is None else Outcome.UPDATED
    return _merge(mine, *sides)


def _drop(mine: Path) -> Outcome:
    mine.unlink()
    return Outcome.REMOVED


def _merge(mine: Path, base: Path, theirs: Path) -> Outcome:
    if not base.exists():
        base.parent.mkdir(parents=True, exist_ok=True)
        base.write_bytes(b"")
    labels = ["-L", "your project", "-L", "the old template", "-L", "the new template"]
    files = [str(each) for each in (mine, base, theirs)]
    done = subprocess.run(  # noqa: S603 - git, and our own files
        ["git", "merge-file", *labels, *files],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode > _CONFLICTS_AT_MOST:
        raise UserError(f"{mine} cannot be merged: {done.stderr.strip()}")
    return Outcome.CONFLICT if done.returncode else Outcome.MERGED


def _read(file: Path) -> bytes | None:
    return file.read_bytes() if file.is_file() else None
