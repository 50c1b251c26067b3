"""Follows a page from top to bottom: sets the scene of each section, types its commands, compares what they print."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from stepward.cli.main import app
from tests.architecture.test_documents import read

_PART = re.compile(r"^##? (?P<title>[^\n]+)|^ *```(?P<kind>\w+)[^\n]*\n(?P<text>.*?)^ *```", re.DOTALL | re.MULTILINE)

Scene = Mapping[str, Any]
"""What stands in the modules of the command line in place of what reaches a deployment, by its name there."""
Scenes = Mapping[str, Callable[[], Iterator[Scene]]]
"""By a section's title: what yields the scene of each of its blocks."""


@dataclass(frozen=True)
class Block:
    """The commands of one block, each with the lines that it prints."""

    title: str
    commands: tuple[tuple[str, tuple[str, ...]], ...]


def commands(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each command of a block, with the lines that it prints."""
    for part in re.split(r"^\$ ", dedent(text), flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        yield command, tuple(line for line in lines if line.strip())


def blocks(page: str) -> Iterator[Block]:
    """The blocks of commands with what they print, in the order of the page."""
    title = ""
    for part in _PART.finditer(read(page)):
        title = part["title"] or title
        if part["kind"] == "console":
            yield Block(title, tuple(commands(part["text"])))


def follow(page: str, scenes: Scenes) -> Iterator[tuple[str, Result, str]]:
    """Each command of the page, what came of it, and the pattern of what it should print."""
    title, scene = "", iter(tuple[Scene]())
    for block in blocks(page):
        scene = scene if block.title == title else scenes[title := block.title]()
        at = next(scene)
        with pytest.MonkeyPatch.context() as patch:
            visit(at, patch)
            for command, lines in block.commands:
                yield command, CliRunner().invoke(app, shlex.split(command)[1:]), wanted(lines)


def visit(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    """Put into all modules of the command line what stands there in this scene."""
    for module in [module for name, module in list(sys.modules.items()) if name.startswith("stepward.cli.")]:
        for there in scene.keys() & vars(module):
            patch.setattr(module, there, scene[there])


def wanted(lines: Sequence[str]) -> str:
    """The pattern of these lines: `…` is anything within a line, and on a line of its own any lines."""
    return "".join(r"(?:.*\n)*?" if line.strip() == "…" else _any_line(line) for line in lines)


def _any_line(line: str) -> str:
    return re.escape(line.rstrip()).replace("…", ".*") + r"\n"


def without_blanks(printed: str) -> str:
    """What was printed, without blank lines and blanks at the ends of lines."""
    return "".join(f"{line.rstrip()}\n" for line in printed.splitlines() if line.strip())
