"""Who has an effect, and how the step is named that has it: the steps of an item have names of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

S = TypeVar("S")
MOST_INLINE = 10
"""So many items of an each are done within its own task."""


def tens(items: int) -> int:
    """How many children do so many items."""
    return -(-items // MOST_INLINE)


@dataclass(frozen=True, slots=True)
class Executor:
    """Who does a step, and who undoes it; `effect` gives each executor an idempotency key of its own.

    `check` is the agent's operation that tells whether the effect stands, if its service honours no keys.
    `at_once` is how many requests the agent serves at once, known of those that have or are a fallback; else 0.
    """

    effect: str
    agent: str
    operation: str
    undo_agent: str = ""
    undo: str = ""
    at_once: int = 0
    check: str = ""

    @property
    def operations(self) -> tuple[tuple[str, str], ...]:
        """What it asks for, forward and undo, as (agent, operation)."""
        pairs = ((self.agent, self.operation), (self.undo_agent, self.undo), (self.agent, self.check))
        return tuple(pair for pair in pairs if all(pair))


@dataclass(frozen=True, slots=True)
class Item:
    """What the name of a record says: `parcels[3].pack` does the `part` "pack" of item 3 of the step "parcels".

    An Each of one step has no parts, `parcels[3]`; the record of any other step, `charge`, is at -1.
    """

    step: str
    at: int = -1
    part: str = ""

    @staticmethod
    def read(name: str) -> Item:
        """The parts of a name, be it of a step or of what undoes one."""
        forward = name.split("/", maxsplit=1)[0]
        step, _, rest = forward.partition("[")
        at, _, part = rest.partition("]")
        return Item(step, int(at), part[1:]) if at.isdecimal() else Item(forward)

    def __str__(self) -> str:
        part = f".{self.part}" if self.part else ""
        return self.step if self.at < 0 else f"{self.step}[{self.at}]{part}"


@dataclass(frozen=True, slots=True)
class Named(Mapping[str, S], Generic[S]):
    """The steps of a plan by their names, and those of items, which are `made` when somebody first asks for one."""

    steps: Mapping[str, S]
    made: Callable[[str], Iterable[tuple[str, S]]]
    of_items: dict[str, S] = field(default_factory=dict)

    def __getitem__(self, name: str) -> S:
        if name in self.steps:
            return self.steps[name]
        if name not in self.of_items:
            self.of_items.update(self.made(name))
        return self.of_items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)
