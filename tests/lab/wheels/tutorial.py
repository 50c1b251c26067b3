"""Follows a few pages word by word, in a clone of the repository: `python -m tests.lab.wheels.tutorial [PAGE]`.

It writes each file that a page shows, types each command, and looks for each line that the page says it prints, also in
the blocks of text behind it. Times and counts may differ, and `…` is anything; an order may take a while until it is as
the page says.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic

from tests.lab.wheels.building import ROOT

FOLLOWED = ("docs/tutorial.md", "docs/incident.md", "docs/demonstration.md")
ENDS_WITHIN_S = 180
_TAKES_A_WHILE = re.compile(r" (show|status) ")
_BLOCK = re.compile(r'^```(?P<kind>\w+)(?: title="(?P<file>[^"]+)")?\n(?P<text>.*?)^```', re.DOTALL | re.MULTILINE)


def main() -> None:
    """Print each command once it has done what the page says; raises RuntimeError at the first that does not."""
    with TemporaryDirectory(prefix="stepward-") as scratch:
        folder = Path(scratch) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)  # noqa: S603, S607
        try:
            for page in sys.argv[1:] or FOLLOWED:
                _follow(page, folder)
        finally:
            for place in (folder, Path(scratch) / "bookings"):
                if (command := place / ".venv" / "bin" / "stepward").exists():
                    subprocess.run([command, "local", "down"], cwd=place, check=False)  # noqa: S603 - our own


def _follow(page: str, folder: Path) -> None:
    printed = ""
    for block in _BLOCK.finditer((ROOT / page).read_text(encoding="utf-8")):
        if block["file"]:
            (folder / block["file"]).write_text(block["text"], encoding="utf-8")
            continue
        if block["kind"] == "text" and (missing := _missing(block["text"].splitlines(), printed)):
            raise RuntimeError(f"the command before printed\n{printed}\nwithout {missing}")
        for command, lines in _typed(block["text"]):
            if command.startswith("cd "):
                folder = (folder / command.removeprefix("cd ")).resolve()
                continue
            began = monotonic()
            printed = _printed(command, lines, folder)
            sys.stdout.write(f"{monotonic() - began:5.1f} s  {command}\n")
            sys.stdout.flush()


def _typed(block: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a block of console text, with the lines that it prints."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        yield command, lines


def _printed(command: str, lines: list[str], folder: Path) -> str:
    """What the command printed, once all these lines were in it."""
    give_up_at = monotonic() + (ENDS_WITHIN_S if _TAKES_A_WHILE.search(command) else 0)
    while True:
        done = subprocess.run(  # noqa: S602 - the reader's shell
            command, shell=True, cwd=folder, capture_output=True, text=True, check=False, env=_environment()
        )
        printed = done.stdout + done.stderr
        if done.returncode == 0 and not _missing(lines, printed):
            return printed
        if monotonic() >= give_up_at:
            raise RuntimeError(f"$ {command}\nended with {done.returncode} and printed\n{printed}\nin place of {lines}")
        Event().wait(2)


def _missing(lines: list[str], printed: str) -> list[str]:
    said = "\n".join(map(_masked, printed.splitlines()))
    return [line for line in lines if not re.search(_wanted(line), said, re.MULTILINE)]


def _wanted(line: str) -> str:
    return f"^{re.escape(_masked(line)).replace('…', '.*')}$"


def _masked(line: str) -> str:
    return re.sub(r"\d+", "0", line).rstrip()


def _environment() -> dict[str, str]:
    return {name: text for name, text in os.environ.items() if name not in {"VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS"}}


if __name__ == "__main__":
    main()
