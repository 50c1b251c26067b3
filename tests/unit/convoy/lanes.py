"""Lanes as the tests begin with them, and what blocks them."""

from typing import Any

from stepward.testing.faults.record import Died
from tests.factories import MINUTE
from tests.lab.convoy.world import ConvoyWorld, order


def arrive(world: ConvoyWorld, *entries: Any, ledger_id: str = "L1") -> None:
    """A ledger is split: its entries wait in the queue of the lanes."""
    world.ledger(ledger_id, *entries)
    world.walk(world.ledgers.receive(1))


def with_gap(length: int) -> tuple[ConvoyWorld, list[dict[str, Any]]]:
    """Order A, whose first and last event have come, and all its events."""
    world, events = ConvoyWorld(), order("A", length)
    world.run(events[0], events[-1])
    return world, events


def poisoned(*sequences: int, length: int = 3, world: ConvoyWorld | None = None) -> ConvoyWorld:
    """Order A, stopped at the first of these events, which no lane can apply, with the others behind it."""
    world, events = world or ConvoyWorld(), order("A", length)
    for sequence in sequences:
        events[sequence - 1]["op"] = "remove"
    world.run(*events)
    return world


def blocked(world: ConvoyWorld, order_id: str = "A") -> tuple[int, str]:
    """The position at which the lane is blocked, and why; nothing if it is not."""
    found = world.lane(order_id).blocked
    return (found.position, found.reason) if found else (0, "")


def work_and_die(world: ConvoyWorld) -> None:
    """A consumer takes what waits, and dies of the fault that is armed; then another one does the rest."""
    try:
        world.work(world.events.receive())
    except Died:
        world.clock.now += MINUTE
    world.gate.calm()
    world.run()
