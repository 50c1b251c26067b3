"""Issue: `--follow` is live in the terminal, survives a lost connection, and ends cleanly at Ctrl-C, as a bulk does."""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from stepward.cli.deployment.options import Target
from stepward.cli.many import progress, stoppable
from stepward.cli.orders.show import show
from stepward.cli.status import status
from stepward.domain.errors import Transient
from stepward.operator.bulk import Progress
from tests.unit.cli.lives import Life
from tests.unit.operator.deployed import Deployed


class Screen:
    """A terminal of 80 by 24, an order that runs, and what happens each time that the command waits."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.text, self.deployed, self.life = io.StringIO(), Deployed(time=[0]), Life("ord-1").start(0)
        self.events: Iterator[Callable[[], object]] = iter(())
        self.lost = False
        self.deployed.put(self.life)
        console = Console(file=self.text, force_terminal=True, width=80, height=24, color_system=None)
        for module in ("live", "status", "orders.show"):
            patch.setattr(f"stepward.cli.{module}.OUT", console)
        patch.setattr("stepward.cli.live.sleep", self.wait)
        connection = replace(self.deployed.connection, store=self, searches=self)  # type: ignore[arg-type]
        for module in ("status", "orders.show"):
            patch.setattr(f"stepward.cli.{module}.connect", lambda _: connection)

    def __getattr__(self, name: str) -> Any:
        """The store and the searches, unless the connection is lost."""
        if self.lost:
            raise Transient("read task ord-1: EndpointConnectionError")
        found = self.deployed.connection.searches
        return getattr(found, name, None) or getattr(self.deployed.store, name)

    def wait(self, seconds: float) -> None:
        self.deployed.time[0] += round(seconds * 1000)
        next(self.events, self.press)()

    def press(self) -> None:
        raise KeyboardInterrupt

    def lose(self) -> None:
        self.lost = True

    def find(self) -> None:
        self.lost = False

    def goes_on(self, step: str) -> Callable[[], None]:
        return lambda: self.deployed.put(self.life.answer(step, self.deployed.time[0]))

    def run(self, command: str, *events: Callable[[], object]) -> str:
        self.events = iter(events)
        if command == "show":
            show(Target(), "ord-1", follow_it=True)
        else:
            status(Target(), follow_it=True)
        return self.text.getvalue()


def test_an_order_is_followed_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch)
    shown = screen.run("show", screen.goes_on("reserve"), screen.goes_on("charge"), pytest.fail)
    live, _, last = shown.rpartition("\x1b[?25h")
    assert live.index("Order ord-1: Processing") < live.index("Order ord-1: Processed")
    assert last.count("Order ord-1: Processed") == 1
    assert "Processing" not in last


@pytest.mark.parametrize("command", ["show", "status"])
def test_ctrl_c_ends_it_and_leaves_the_last_view(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """Issue: cleanly, with no traceback; the cursor is there again."""
    shown = Screen(monkeypatch).run(command)
    last = shown.rpartition("\x1b[?25h")[2]
    assert {"show": "Order ord-1: Processing", "status": "Nothing needs you."}[command] in last


@pytest.mark.parametrize("command", ["show", "status"])
def test_a_lost_connection_is_said_and_tried_again(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """Issue: what was seen stays, with why it is old; once the connection is there it goes on."""
    screen = Screen(monkeypatch)
    shown = screen.run(command, screen.lose, tuple, screen.find)
    assert "Not read for 2.0 s: read task ord-1: EndpointConnectionError. It is tried again." in " ".join(shown.split())
    assert "Not read for 4.0 s" in shown
    assert "Not read" not in shown.rpartition("\x1b[?25h")[2]


def test_what_cannot_be_read_at_first_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(monkeypatch)
    screen.lose()
    with pytest.raises(Transient):
        screen.run("show")


def test_ctrl_c_stops_a_bulk_and_pressed_again_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    """O2: once: after what is under way; and whoever presses it later has the terminal's own again."""
    before = signal.getsignal(signal.SIGINT)

    def run() -> None:
        with stoppable() as is_stopped, progress("redrive", visible=False) as tell:
            tell(Progress(total=9, sent=2, others=1))
            assert not is_stopped()
            signal.raise_signal(signal.SIGINT)
            assert is_stopped()
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert signal.getsignal(signal.SIGINT) == before
    said = capsys.readouterr().err
    assert "the rest is left" in said
    assert "stopped at once: 2 of 9 were sent; to go on with the rest, give the same command again" in said


def test_a_hint_begins_with_the_path_that_was_typed_unless_the_shell_finds_the_command_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = tmp_path / "stepward"
    command.touch(0o755)
    hints = []
    for argv, path in (("pytest", ""), (str(command), "/nowhere"), (str(command), str(tmp_path))):
        monkeypatch.setattr(sys, "argv", [argv])
        monkeypatch.setenv("PATH", path)
        hints.append(Target("shop").typed("show", "ord 1"))

    assert hints == ["stepward show 'ord 1' --stack shop", f"{command} show 'ord 1' --stack shop", hints[0]]
