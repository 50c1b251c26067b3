"""Kills processes of functions in mid-work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from time import monotonic

import psutil

LOOK_EVERY_S = 0.01
LOOK_FOR_S = 1.0
_WAITS_FOR_AN_EVENT = "pipe_read"
"""Where the system says that a process stands which waits for its next event: at its standard input."""


@dataclass(frozen=True, slots=True)
class Reaper:
    """Kills processes below the cloud's own, `cloud`; counts them by kind, at work or not."""

    cloud: int
    killed: Counter[tuple[str, bool]] = field(default_factory=Counter)

    def kill(self, kind: str, wait: float) -> None:
        """Kill a process of this kind `wait` seconds after one was seen at work, or an idle one if none is; or none."""
        give_up_at, pause = monotonic() + LOOK_FOR_S, Event()
        while monotonic() < give_up_at:
            busy = [process for process in self._processes(kind) if at_work(process)]
            if busy:
                pause.wait(wait)
                return self._kill(kind, busy)
            pause.wait(LOOK_EVERY_S)
        return self._kill(kind, self._processes(kind))

    def _kill(self, kind: str, processes: Sequence[psutil.Process]) -> None:
        for process in processes[:1]:
            with suppress(psutil.NoSuchProcess):
                busy = at_work(process)
                process.kill()
                self.killed[kind, busy] += 1

    def _processes(self, kind: str) -> Sequence[psutil.Process]:
        return functions_of(self.cloud, lambda name: kind in name)


def functions_of(cloud: int, wanted: Callable[[str], bool]) -> Sequence[psutil.Process]:
    """The processes below `cloud` that run a function whose name is `wanted`."""
    return [process for process in psutil.Process(cloud).children(recursive=True) if wanted(function_of(process))]


def function_of(process: psutil.Process) -> str:
    """The name of the function that a process runs; empty if it runs none or is gone."""
    with suppress(psutil.Error):
        return process.environ().get("AWS_LAMBDA_FUNCTION_NAME", "")
    return ""


def at_work(process: psutil.Process) -> bool:
    """Whether it has an event in hand; False if it is gone."""
    with suppress(OSError):
        return _WAITS_FOR_AN_EVENT not in Path(f"/proc/{process.pid}/wchan").read_text()
    return False
