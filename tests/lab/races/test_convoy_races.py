"""C4, C5, I7: however many consumers have one order's events at once, each is applied once, in sequence."""

import pytest

from stepward.domain.convoy.commands import LaneCommand, ReplaceEvent, RetryLane, SkipEvent
from stepward.domain.convoy.event import StoredEvent
from stepward.domain.history import HistoryKind
from stepward.local.access import Access
from stepward.wire.strict_json import canonical
from tests.lab.convoy.world import entry
from tests.lab.races.conftest import RACERS, Race
from tests.lab.races.lanes import Consumers, add

pytestmark = pytest.mark.cloud

PARKED = 70
"""More than one change of a lane drains."""


@pytest.fixture(scope="module")
def consumers(race: Race, cloud_access: Access) -> Consumers:
    return Consumers.new(race, cloud_access)


def test_one_batch_in_eight_consumers_is_applied_once(race: Race, consumers: Consumers) -> None:
    """C4: as after a visibility timeout that was too short; its create submits one order."""
    for order_id in race.orders("batch"):
        consumers.telemetry.history.clear()
        consumers.rejects.kept.clear()
        batch = [entry(order_id, 1, "create"), *(add(order_id, position) for position in range(2, 7))]

        race.run([consumers.applies(racer, order_id, *batch) for racer in range(RACERS)])

        consumers.check(order_id, 6)
        assert consumers.counted(HistoryKind.SUBMITTED).total() == 1
        assert not consumers.rejects.kept
        race.outcomes["applied once"] += 1


def test_different_batches_of_one_order_are_all_applied_in_sequence(race: Race, consumers: Consumers) -> None:
    """C5: each racer has another two of its events."""
    for order_id in race.orders("batches"):
        consumers.begin(order_id)
        batches = [[add(order_id, position), add(order_id, position + RACERS)] for position in range(2, RACERS + 2)]

        race.run([consumers.applies(racer, order_id, *batch) for racer, batch in enumerate(batches)])

        consumers.check(order_id, 2 * RACERS + 1)
        race.outcomes["events parked"] += consumers.counted(HistoryKind.PARKED).total()


def test_what_closes_a_gap_and_what_is_parked_behind_it_do_not_miss_each_other(
    race: Race, consumers: Consumers
) -> None:
    """C5: nothing stays parked behind a gap that is closed."""
    for order_id in race.orders("gap"):
        consumers.begin(order_id)
        closing = [consumers.applies(racer, order_id, add(order_id, 2)) for racer in range(RACERS // 2)]
        parking = [consumers.applies(racer, order_id, add(order_id, racer - 1)) for racer in range(RACERS // 2, RACERS)]

        race.run([*closing, *parking])

        consumers.check(order_id, RACERS - 2)
        race.outcomes["events parked"] += consumers.counted(HistoryKind.PARKED).total()


def test_a_long_queue_behind_a_gap_is_drained_once(race: Race, consumers: Consumers) -> None:
    """C5: in several changes, of which each may be another racer's."""
    for order_id in race.orders("drain"):
        consumers.begin(order_id, *(add(order_id, position) for position in range(3, PARKED + 3)))

        race.run([consumers.applies(racer, order_id, add(order_id, 2)) for racer in range(RACERS)])

        consumers.check(order_id, PARKED + 2)
        race.outcomes["drained"] += 1


def test_a_skip_and_the_event_that_comes_after_all_do_not_both_count(race: Race, consumers: Consumers) -> None:
    """C6: and the event that came too late is among the rejects."""
    for order_id in race.orders("skip"):
        consumers.begin(order_id, add(order_id, 3))
        skip = SkipEvent(order_id, 2, "ann", "it never came", "asked-1")
        skipping = [consumers.applies_command(racer, skip) for racer in range(RACERS // 2)]
        arriving = [consumers.applies(racer, order_id, add(order_id, 2)) for racer in range(RACERS // 2, RACERS)]

        race.run([*skipping, *arriving])

        second = consumers.check(order_id, 3)[1]
        assert bool(consumers.rejects.kept) is bool(second.skipped)
        race.outcomes["skipped" if second.skipped else "applied"] += 1


def test_one_of_many_operators_mends_what_stops_a_lane(race: Race, consumers: Consumers) -> None:
    """C6: two skip it, two replace it, two retry it, and more events arrive."""
    for order_id in race.orders("mend"):
        consumers.begin(order_id, entry(order_id, 2, "modify", modifies=9))
        corrected = canonical(add(order_id, 2))
        acts: list[LaneCommand] = [
            *(SkipEvent(order_id, 2, f"ann-{number}", "not needed", f"skip-{number}") for number in (1, 2)),
            *(ReplaceEvent(order_id, 2, corrected, f"bob-{number}", "mended", f"new-{number}") for number in (1, 2)),
            *(RetryLane(order_id, f"eve-{number}", "mended", f"again-{number}") for number in (1, 2)),
        ]
        acting = [consumers.applies_command(racer, command) for racer, command in enumerate(acts)]
        arriving = [consumers.applies(racer, order_id, add(order_id, racer - 3)) for racer in (6, 7)]

        race.run([*acting, *arriving])

        second = consumers.check(order_id, 4)[1]
        audit_log = consumers.convoy(0).audit_log.of(order_id)
        assert sum(entry.applied and entry.command != "convoy retry" for entry in audit_log) == 1
        race.outcomes[how(second)] += 1


def test_one_command_that_comes_to_eight_is_done_once(race: Race, consumers: Consumers) -> None:
    """C6: the audit log holds it once."""
    for order_id in race.orders("twice"):
        consumers.begin(order_id, entry(order_id, 2, "modify", modifies=9), add(order_id, 3))
        skip = SkipEvent(order_id, 2, "ann", "not needed", "asked-1")

        race.run([consumers.applies_command(racer, skip) for racer in range(RACERS)])

        assert how(consumers.check(order_id, 3)[1]) == "skipped"
        assert [entry.applied for entry in consumers.convoy(0).audit_log.of(order_id)] == [True]
        race.outcomes["skipped"] += 1


def test_an_end_closes_the_lane_whatever_arrives_with_it(race: Race, consumers: Consumers) -> None:
    """C5: what comes after the end is among the rejects, never applied."""
    for order_id in race.orders("end"):
        consumers.begin(order_id)
        ending = [consumers.applies(racer, order_id, add(order_id, 2), add(order_id, 3, end=True)) for racer in (0, 1)]
        late = [consumers.applies(racer, order_id, add(order_id, racer + 2)) for racer in range(2, RACERS)]

        race.run([*ending, *late])

        consumers.check(order_id, 3)
        assert consumers.lane(order_id).end == 3
        assert len({reject.body for reject in consumers.rejects.kept.values()}) == RACERS - 2
        race.outcomes["events refused"] += RACERS - 2


def how(event: StoredEvent) -> str:
    """What was done about an event that blocked a lane."""
    return "skipped" if event.skipped else "replaced"
