"""Does something with each of many, some of them side by side: nearly all of it is waiting for other services."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Like `map`, with up to `at_once` threads; it takes no more of the items than it is at work on.

    It starts no thread without an item. Whatever one item raises is raised when the others at work are done.
    """

    at_once: int

    def __call__(self, act: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """The results, in the order of the items."""
        working: deque[Future[R]] = deque()
        with ThreadPoolExecutor(self.at_once) as threads:
            for item in items:
                if len(working) == self.at_once:
                    yield working.popleft().result()
                working.append(threads.submit(act, item))
            while working:
                yield working.popleft().result()
