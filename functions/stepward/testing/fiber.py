"""An invocation that can wait while others act."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Semaphore, Thread, current_thread

from stepward.testing.faults.record import Died


@dataclass(slots=True)
class Fiber:
    """An invocation that can wait: it runs until it waits or ends, while its caller stands still, so nothing races."""

    act: Callable[[], None]
    thread: Thread = field(init=False)
    error: BaseException | None = None
    is_closed: bool = False
    go: Semaphore = field(default_factory=lambda: Semaphore(0))
    back: Semaphore = field(default_factory=lambda: Semaphore(0))

    def __post_init__(self) -> None:
        self.thread = Thread(target=self._run, daemon=True)

    @property
    def runs_here(self) -> bool:
        """Whether the caller runs inside it."""
        return current_thread() is self.thread

    def resume(self) -> None:
        """Run it until it waits or ends; raises its error."""
        if self.thread.ident is None:
            self.thread.start()
        else:
            self.go.release()
        self.back.acquire()
        if self.error is not None:
            raise self.error

    def wait(self) -> None:
        """Let others run until it is resumed; called inside it."""
        self.back.release()
        self.go.acquire()
        if self.is_closed:
            raise Died

    def close(self) -> None:
        """End it where it waits."""
        if self.thread.is_alive():
            self.is_closed = True
            self.go.release()
            self.thread.join()

    def _run(self) -> None:
        try:
            self.act()
        except BaseException as error:  # noqa: BLE001 - whoever resumed it raises it again
            self.error = error
        finally:
            self.back.release()
