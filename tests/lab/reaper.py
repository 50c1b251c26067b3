"""Kills processes of functions in the middle of their work."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TypeVar

import psutil

from stepward.domain.errors import Transient

T = TypeVar("T")
POLL_S = 0.01
PATIENCE_S = 1.0
_WAITS_FOR_AN_EVENT = "pipe_read"
"""The kernel function in which a process sleeps while it waits for its next event on standard input."""


@dataclass(frozen=True, slots=True)
class Reaper:
    """Kills child processes of `cloud`; `killed` counts them by kind, and by whether they were at work."""

    cloud: int
    killed: Counter[tuple[str, bool]] = field(default_factory=Counter)

    def kill(self, kind: str, wait: float) -> None:
        """Kill a process of this kind `wait` seconds after it was seen at work; without one, an idle one, if any."""
        busy = awaited(lambda: [each for each in self._processes(kind) if at_work(each)], PATIENCE_S, POLL_S)
        if busy:
            Event().wait(wait)
        self._kill(kind, busy or self._processes(kind))

    def _kill(self, kind: str, processes: Sequence[psutil.Process]) -> None:
        for process in processes[:1]:
            with suppress(psutil.NoSuchProcess):
                busy = at_work(process)
                process.kill()
                self.killed[kind, busy] += 1

    def _processes(self, kind: str) -> Sequence[psutil.Process]:
        return functions_of(self.cloud, lambda name: kind in name)


def awaited(ask: Callable[[], T], within_s: float, every_s: float) -> T | None:
    """The first answer that is not empty, a Transient being none; None if that takes too long."""
    give_up_at, pause = monotonic() + within_s, Event()
    while monotonic() < give_up_at:
        with suppress(Transient):
            if answer := ask():
                return answer
        pause.wait(every_s)
    return None


def functions_of(cloud: int, wanted: Callable[[str], bool]) -> Sequence[psutil.Process]:
    """The processes below `cloud` that run a function whose name is `wanted`."""
    return [process for process in psutil.Process(cloud).children(recursive=True) if wanted(function_of(process))]


def function_of(process: psutil.Process) -> str:
    """The name of the function that a process runs; empty if it runs none or is gone."""
    with suppress(psutil.Error):
        return process.environ().get("AWS_LAMBDA_FUNCTION_NAME", "")
    return ""


def at_work(process: psutil.Process) -> bool:
    """Whether it processes an event; False if it is gone."""
    with suppress(OSError):
        return _WAITS_FOR_AN_EVENT not in Path(f"/proc/{process.pid}/wchan").read_text()
    return False
