"""The outcome of a command, as an operator sees it."""

from dataclasses import dataclass, field, replace

import pytest

from stepward.app.scheduler.audit_log import AuditEntry
from stepward.cli.following import WITHIN_MS, awaited
from stepward.domain.messages import Command, Pause, Resubmit, Resume, Undo
from stepward.operator.asked import CommandOutcome
from stepward.operator.outcome import Seen, outcome
from tests.unit.cli.lives import (
    APPROVED,
    GIVEN,
    SUBMITTED,
    UNDOABLE,
    Life,
    approving,
    early,
    failed,
    one_way,
    paused,
    undo_failed,
    undoing,
    undone,
)

UNDO = Undo("ord-1", "ada", "withdrawn")
FRESH = Life(plan=UNDOABLE).start(0)


def came_of(command: Command, before: Life, now: Life, *audit_log: AuditEntry) -> CommandOutcome | None:
    return outcome(command, Seen(before.task, before.plan), Seen(now.task, now.plan, audit_log))


@pytest.mark.parametrize(
    ("now", "text", "final"),
    [
        (undoing(), "has begun; still to do: reserve/undo, charge/undo", False),
        (undone(), "Undone: all its effects are compensated.", True),
        (one_way(), "Undone: reserve has no undo: its effect stands; charge has no undo: its effect may stand.", True),
        (undo_failed(), "UndoFailed: charge/undo ended in Error", True),
    ],
)
def test_an_undo_is_followed_to_its_end(now: Life, text: str, final: bool) -> None:
    """S17: begun, undone and failed are distinct outcomes."""
    found = came_of(UNDO, FRESH, now)

    assert found is not None
    assert (found.applied, found.final, found.is_good) == (True, final, "Failed" not in text)
    assert text in found.text


def test_a_step_that_failed_again_is_no_success() -> None:
    """Issue: `is Error now` is no exit code 0."""
    again = failed().resubmit("charge", 9_000, "alex", "raised").answer("charge", 9_500, "declined")
    found = came_of(Resubmit("ord-1", "charge", 1, "alex", "raised"), failed(), again)
    assert found is not None
    assert (found.applied, found.is_good) == (True, False)
    assert "it is Error now" in found.text


@pytest.mark.parametrize(
    ("command", "before", "now", "text"),
    [
        (Pause("ord-1", "ada", "asking"), FRESH, paused(), "is paused"),
        (Resume("ord-1", "alex", "agreed"), paused(), paused().resume(900), "goes on: it is Processing"),
        (
            Resubmit("ord-1", "charge", 1, "alex", "raised"),
            failed(),
            failed().resubmit("charge", 9_000, "alex", "raised"),
            "Step charge of order ord-1 runs again: it is Processing now",
        ),
        (GIVEN, approving(), approving().apply(GIVEN, 20), "approval of order ord-1 counts: the step is Processed."),
        (GIVEN, Life(plan=APPROVED), early(), "The signal approval of order ord-1 is kept until the step begins."),
    ],
)
def test_the_outcome_of_each_command_is_in_the_history(command: Command, before: Life, now: Life, text: str) -> None:
    found = came_of(command, before, now)

    assert found is not None
    assert found.applied
    assert text in found.text


def test_what_had_happened_before_is_not_taken_for_an_outcome() -> None:
    paused_twice = paused().resume(900).pause(1_000)

    assert came_of(Pause("ord-1", "ada", "asking"), paused(), paused()) is None
    assert came_of(Resume("ord-1", "alex", "agreed"), paused_twice, paused_twice) is None


def test_somebody_who_was_faster_is_named() -> None:
    found = came_of(Pause("ord-1", "eve", "me too"), FRESH, paused())

    assert found is not None
    assert "ada asked for it first" in found.text


def test_a_refusal_is_read_from_the_audit_log() -> None:
    old = AuditEntry(SUBMITTED, "undo", "", 0, "ada", "withdrawn", applied=False, note="of yesterday")
    mine = replace(old, at=SUBMITTED + 9, note="past its point of no return")
    others = (
        replace(mine, who="eve", note="somebody else's"),
        replace(mine, why="sold twice", note="mine, of another moment"),
        replace(mine, step="charge", attempt=1, note="of another step"),
    )

    found = outcome(UNDO, Seen(FRESH.task, FRESH.plan, (old,)), Seen(FRESH.task, FRESH.plan, (old, mine, *others)))

    assert found == CommandOutcome(applied=False, text="past its point of no return")
    assert outcome(UNDO, Seen(FRESH.task, FRESH.plan, (old,)), Seen(FRESH.task, FRESH.plan, (old, *others))) is None


@dataclass
class Waiter:
    """A clock that sleeping moves, and the outcome at each reading."""

    finds: list[CommandOutcome | None]
    now: int = 0
    looks: int = field(default=0)

    def look(self) -> CommandOutcome | None:
        self.looks += 1
        return self.finds[min(self.looks, len(self.finds)) - 1]

    def sleep(self, seconds: float) -> None:
        self.now += round(seconds * 1000)

    def wait(self) -> CommandOutcome | None:
        return awaited(self.look, lambda: self.now, self.sleep)


def test_an_outcome_is_waited_for_until_it_is_final() -> None:
    begun, ended = CommandOutcome(applied=True, text="begun", final=False), CommandOutcome(applied=True, text="ended")
    waiter = Waiter([None, begun, ended, begun])

    assert waiter.wait() == ended
    assert waiter.looks == 3


def test_the_wait_for_an_outcome_ends() -> None:
    begun = CommandOutcome(applied=True, text="begun", final=False)
    silent, slow = Waiter([None]), Waiter([None, begun])

    assert (silent.wait(), slow.wait()) == (None, begun)
    assert silent.now == slow.now == WITHIN_MS


def test_another_signal_is_no_outcome_of_ones_own() -> None:
    """W2: that one is refused, and the audit log says so."""
    given = approving().apply(GIVEN, 20)
    late = AuditEntry(SUBMITTED, "signal", "approval", 0, "alex", "a-2", applied=False, note="it came too late")
    own = replace(GIVEN, who="alex", signal_id="a-2")
    assert came_of(own, approving(), given) is None
    assert came_of(own, approving(), given, late) == CommandOutcome(applied=False, text="it came too late")
