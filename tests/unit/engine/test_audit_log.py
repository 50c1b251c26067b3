"""The audit log: every command that was given, once, with what came of it, in the order of their effects."""

from typing import Any

import pytest

from stepward.app.scheduler.audit_log import LONGEST, AuditEntry, AuditLog
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import Conflict, Corrupt, Permanent, Transient
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.domain.messages import Cancel, Command, Pause, Resubmit, Resume, Start, Undo
from stepward.domain.workflow.agents import Call
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.wire.messages import encode
from tests.factories import ORDER_ID, SECOND, T0
from tests.unit.engine.troubled import TroubledRecords, throttled
from tests.unit.engine.world import World, operation

PAUSE = Pause(ORDER_ID, "ada", "asking the customer")


def given(world: World, *commands: Command) -> list[tuple[str, bool]]:
    """Give the commands, a second apart; what the audit log then holds."""
    for command in commands:
        world.schedule().handle(encode(command))
        world.clock.now += SECOND
    return [(entry.command, entry.applied) for entry in logged(world)]


def logged(world: World) -> tuple[AuditEntry, ...]:
    return AuditLog(world.shared_records).of(ORDER_ID)


@pytest.fixture
def world() -> World:
    """One order whose first step is running."""
    world = World()
    world.ask()
    return world


def test_a_command_is_logged_with_who_why_and_when(world: World) -> None:
    """Each order has an audit log, in a record of its own."""
    given(world, PAUSE)

    assert logged(world) == (AuditEntry(T0, "pause", "", 0, "ada", "asking the customer", applied=True),)
    assert f"audit-log/{ORDER_ID}" in world.shared_records.kept


def test_a_refused_command_is_logged_with_the_reason(world: World) -> None:
    given(world, Resume(ORDER_ID, "alex", "go on"))

    (entry,) = logged(world)
    assert (entry.command, entry.applied) == ("resume", False)
    assert entry.note == "nothing to resume: the order is not paused"


@pytest.mark.parametrize("who", ["ada", "a" * 201, "\N{WAVING HAND SIGN}" * 201, "a" * 1_500])
def test_a_resubmitted_step_is_logged_with_its_attempt(world: World, who: str) -> None:
    """S7, case 26: who resubmitted which attempt, however long their name is."""

    def decline(_: Call) -> dict[str, Any]:
        raise Permanent("sold out")

    world.serve(operation(decline)).handle(world.ask("ord-2"))
    world.schedule().handle(world.take(world.queues.responses))
    world.schedule().handle(encode(Resubmit("ord-2", "reserve", 1, who, "restocked")))

    (entry,) = AuditLog(world.shared_records).of("ord-2")
    assert (entry.command, entry.step, entry.attempt, entry.applied) == ("resubmit", "reserve", 1, True)
    assert (entry.who, entry.why) == (who[:200], "restocked")


def test_a_cancel_differs_from_an_undo(world: World) -> None:
    assert given(world, Cancel(ORDER_ID, "the submitter", "changed my mind")) == [("cancel", True)]


def test_a_message_that_is_no_command_is_not_logged(world: World) -> None:
    world.schedule().handle(encode(Start(ORDER_ID)))

    assert logged(world) == ()


@pytest.mark.parametrize("command", [PAUSE, Resume(ORDER_ID, "alex", "go on"), Undo(ORDER_ID, "ada", "withdrawn")])
def test_a_message_that_is_delivered_twice_is_logged_once(world: World, command: Command) -> None:
    """S22: at least once, as queues deliver."""
    assert len(given(world, command, command, command)) == 1


def test_the_same_command_given_again_later_is_another_command(world: World) -> None:
    resume = Resume(ORDER_ID, "ada", "agreed")

    assert given(world, PAUSE, resume, PAUSE, resume) == [("pause", True), ("resume", True)] * 2


def test_two_people_who_ask_for_the_same_are_both_logged(world: World) -> None:
    assert given(world, PAUSE, Pause(ORDER_ID, "alex", "asking too")) == [("pause", True), ("pause", False)]


@pytest.mark.parametrize("command", [PAUSE, Undo(ORDER_ID, "ada", "withdrawn")])
def test_dying_between_the_change_and_its_log_entry_loses_nothing(world: World, command: Command) -> None:
    """S16, S22: the next delivery is refused by the order, which remembers that this very command was applied."""
    world.shared_records = TroubledRecords(before_write=throttled)
    with pytest.raises(Transient):
        given(world, command)
    changed_at = world.clock.now
    world.clock.now += 30_000

    assert given(world, command) == [(type(command).__name__.lower(), True)]
    assert logged(world)[0].at == changed_at


def test_a_command_that_is_logged_late_stands_where_it_was_applied(world: World) -> None:
    """S22: the pause was applied, and its message comes again only after the order was resumed."""
    world.shared_records = TroubledRecords(before_write=throttled)
    pause = Pause(ORDER_ID, "ada", "stock is being counted", asked_at=T0)
    with pytest.raises(Transient):
        given(world, pause)
    world.clock.now += SECOND

    resume = Resume(ORDER_ID, "ada", "counted", asked_at=T0 + SECOND)

    assert given(world, resume, pause) == [("pause", True), ("resume", True)]


def test_a_lost_race_is_run_again(world: World) -> None:
    world.shared_records = TroubledRecords(races_lost=3)

    assert given(world, PAUSE) == [("pause", True)]


def test_a_race_that_is_never_won_goes_back_to_the_queue(world: World) -> None:
    world.shared_records = TroubledRecords(races_lost=100)

    with pytest.raises(Conflict):
        given(world, PAUSE)


def test_an_audit_log_keeps_its_newest_entries_and_stays_small() -> None:
    """A record of DynamoDB holds 400 KB; each sign may take six bytes of JSON."""
    shared_records = MemorySharedRecords()
    audit_log, long = AuditLog(shared_records), "\u1234" * 1_000
    for number in range(LONGEST + 5):
        entry = HistoryEntry(T0 + number, HistoryKind.PAUSED, by=long, note=long[:200])
        audit_log.keep(ORDER_ID, Pause(ORDER_ID, long, long), (entry,), lambda: None)

    entries = audit_log.of(ORDER_ID)
    assert [entry.at for entry in entries] == [T0 + number for number in range(5, LONGEST + 5)]
    assert len(str(shared_records.kept[f"audit-log/{ORDER_ID}"].body).encode("ascii", "backslashreplace")) < 300_000


def test_a_corrupt_audit_log_is_an_error_that_names_it() -> None:
    shared_records = MemorySharedRecords()
    shared_records.write(SharedRecord(f"audit-log/{ORDER_ID}", 1, {"entries": [{"at": 1}]}), replaces=None)

    with pytest.raises(Corrupt, match=rf"^audit-log/{ORDER_ID}: it lacks command, step, attempt, who, why, applied$"):
        AuditLog(shared_records).of(ORDER_ID)


def test_a_refusal_is_not_logged_for_an_order_that_is_gone(world: World) -> None:
    audit_log = AuditLog(world.shared_records)

    audit_log.keep(ORDER_ID, PAUSE, (HistoryEntry(T0, HistoryKind.REFUSED, by="ada", note="no"),), lambda: None)

    assert audit_log.of(ORDER_ID) == ()
