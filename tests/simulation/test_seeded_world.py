"""S22: a world is the same whenever its seed is, has what it promises, and its findings can be made short."""

from collections.abc import Sequence

import pytest

from stepward.domain.draft import Draft
from stepward.domain.plan import PlannedStep
from tests.simulation.seeded.finding import live
from tests.simulation.seeded.profile import Delivery, Mishap, Mood
from tests.simulation.seeded.shrink import fewest, shortest
from tests.simulation.seeded.story import story

SOME = range(1_000, 1_030)


def _claims_out_of_turn(draft: Draft) -> list[PlannedStep]:
    """What `Draft.ready` would say if steps did not wait for each other."""
    pending = (record.name for record in draft.steps.values() if record.process_state == "Pending")
    return [] if draft.halted else [draft.plan.by_name[name] for name in pending]


def test_a_seed_makes_the_same_world_again() -> None:
    first, _ = live(7, told=True)
    second, _ = live(7, told=True)

    assert first.diary.lines == second.diary.lines
    assert first.judge.tasks.tasks == second.judge.tasks.tasks


def test_a_world_without_accidents_is_smooth() -> None:
    everybody = frozenset(f"ord-{number} is ordered" for number in range(20))

    world, finding = live(7, everybody)

    assert finding is None
    assert {task.process_state for task in world.judge.tasks.tasks.values()} == {"Processed"}
    assert set(world.chances.happened) == everybody


def test_leaving_an_accident_out_changes_no_other() -> None:
    world, _ = live(0)
    others = frozenset(name for name in world.chances.happened if not name.startswith("ord-3"))

    fewer, _ = live(0, others)

    assert set(fewer.chances.happened) <= others
    assert any(name.startswith("ord-4") for name in fewer.chances.happened)


def test_every_kind_of_accident_happens() -> None:
    counts = sum((live(seed)[0].diary.counts for seed in SOME), start=live(0)[0].diary.counts)

    wanted = {*Mishap, *Mood, *(f"delivered {kind}" for kind in Delivery), "stale index", "deaths"}
    assert wanted <= {name for name, count in counts.items() if count}


def test_a_broken_guard_is_found_shortened_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Draft, "ready", _claims_out_of_turn)
    _, finding = live(0)
    assert finding is not None

    short = shortest(finding)
    told = "\n".join(story(short))

    assert (finding.invariant, short.invariant) == ("I3", "I3")
    assert short.accidents == (f"{short.order_id} is ordered",)
    assert "make simulate SEED=0" in told
    assert "revision 2" in told


@pytest.mark.parametrize("needed", [{3}, {0, 9}, {1, 5, 6}, set(range(10)), set()])
def test_no_accident_of_the_shortest_schedule_can_be_left_out(needed: set[int]) -> None:
    def breaks(names: Sequence[str]) -> bool:
        return needed <= {int(name) for name in names}

    assert {int(name) for name in fewest([str(number) for number in range(10)], breaks)} == needed
