"""One world lived through, and what it found."""

from dataclasses import dataclass, field

from tests.simulation.seeded.broken import Broken
from tests.simulation.seeded.world import World


@dataclass(frozen=True, slots=True)
class Finding:
    """A seed under which an invariant broke, or the engine raised what it must not; and the accidents until then."""

    seed: int
    invariant: str
    order_id: str
    what: str
    accidents: tuple[str, ...] = field(repr=False)


def live(seed: int, only: frozenset[str] | None = None, *, told: bool = False) -> tuple[World, Finding | None]:
    """The world of the seed, with no other accidents than `only`; and what broke in it, if anything did."""
    world = World(seed, only, told)
    try:
        world.run()
    except Broken as broken:
        return world, _finding(world, broken.invariant, broken.order_id, str(broken))
    except Exception as error:  # noqa: BLE001 - whatever else the engine raises is a finding as well
        return world, _finding(world, type(error).__name__, world.gate.here.about, repr(error))
    return world, None


def _finding(world: World, invariant: str, order_id: str, what: str) -> Finding:
    return Finding(world.seed, invariant, order_id, what, tuple(world.chances.happened))
