"""The one way to change what others may change at the same time: read, decide, write if nobody was faster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from stepward.domain.coordination.shared_record import Control
from stepward.domain.errors import Conflict
from stepward.ports import Controls

TRIES = 8

Read = TypeVar("Read")
Decided = TypeVar("Decided")
Value = TypeVar("Value")


def change(
    what: str,
    read: Callable[[], Read],
    decide: Callable[[Read], Decided],
    write: Callable[[Read, Decided], bool],
    tries: int = TRIES,
) -> tuple[Read, Decided]:
    """Decide on what was read until the decision is written; what was read, and what was decided.

    `write` says whether it won: it knows its own write whose answer was lost. Raises Conflict if every try lost.
    """
    for _ in range(tries):
        before = read()
        decided = decide(before)
        if write(before, decided):
            return before, decided
    raise Conflict(f"{what}: {tries} writes lost the race; try again")


@dataclass(slots=True)
class SharedRecord(Generic[Value]):
    """A record of `controls` as this instance last read or wrote it.

    `decode` reads it, None where there is none yet; `encode` makes the body of a value.
    """

    controls: Controls
    name: str
    decode: Callable[[Control | None], Value]
    encode: Callable[[Value], Mapping[str, Any]]
    known: Control | None = field(default=None, init=False)

    def read(self) -> Value:
        """The value, read consistently; raises Transient or Unreadable."""
        self.known = self.controls.read(self.name)
        return self.decode(self.known)

    def write(self, value: Value) -> bool:
        """Write it if the record is still as it was last read or written; raises Transient."""
        following = Control(self.name, self.known.revision + 1 if self.known else 1, self.encode(value))
        won = self.controls.write(following, replaces=self.known)
        if won:
            self.known = following
        return won

    def change(self, decide: Callable[[Value], Value], tries: int = TRIES) -> tuple[Value, Value]:
        """Write what `decide` makes of the value, and nothing if that is the same; it before and after."""
        return change(self.name, self.read, decide, lambda before, after: after == before or self.write(after), tries)
