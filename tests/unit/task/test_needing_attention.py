"""Since when an order needs an operator, and when it ended: the sparse index and the expiry depend on them."""

from dataclasses import replace

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Outcome
from stepward.domain.task.lacking import TOLD_AFTER
from stepward.domain.task.record import HISTORY_LIMIT
from tests.factories import MINUTE, SECOND, T0, Life, answer, diamond, sequence, shipping, started, undoable


def state(life: Life) -> tuple[int | None, int | None]:
    return life.task.needs_attention, life.task.ended_at


def test_an_order_under_way_needs_nobody_and_has_not_ended() -> None:
    """S7."""
    life = Life(sequence("reserve"))
    assert state(life) == (None, None)

    life.start()
    life.overdue("reserve")

    assert state(life) == (None, None)


def test_an_order_in_error_needs_an_operator_from_then_until_it_is_resubmitted() -> None:
    """S7."""
    life = shipping()
    life.declined("ship", at=T0 + 7 * SECOND)
    assert state(life) == (T0 + 7 * SECOND, None)

    assert life.resubmit("ship", 1, at=T0 + 9 * SECOND).task.needs_attention is None


def test_an_alert_that_got_out_late_does_not_make_the_wait_shorter() -> None:
    """S7, case 27: what waited longest comes first, by when it failed."""
    life = shipping()
    life.declined("ship", at=T0 + 7 * SECOND)

    life.alerted("ship", at=T0 + 9 * MINUTE)

    assert state(life) == (T0 + 7 * SECOND, None)


def test_a_second_trouble_does_not_hide_since_when_the_first_one_waits() -> None:
    """S7: as soon as the first is mended, the second counts, by its own time."""
    life = started(diamond(), "check")
    life.declined("pay", at=T0 + SECOND)
    life.declined("pick", at=T0 + 2 * SECOND)
    life.pause(at=T0 + 3 * SECOND)
    assert state(life) == (T0 + SECOND, None)

    life.resubmit("pay", 1, at=T0 + MINUTE)

    assert state(life) == (T0 + 2 * SECOND, None)


def test_a_step_that_lacks_something_waits_since_it_does() -> None:
    """D1: not since its alert, which comes when the lack has lasted."""
    life = started(sequence("reserve", complete_within=60 * MINUTE))
    life.apply(answer(life.request("reserve"), Outcome.NOT_UNDERSTOOD, error="deploy it", result={}), at=T0 + SECOND)
    life.check(at=T0 + TOLD_AFTER + MINUTE)

    life.alerted("reserve", at=T0 + TOLD_AFTER + 2 * MINUTE)

    assert state(life) == (T0 + SECOND, None)


def test_a_pause_that_the_history_has_forgotten_is_at_least_as_old_as_all_that_it_remembers() -> None:
    """S7."""
    life = shipping()
    life.pause(at=T0 + 1)
    oldest = life.task.history[0]
    remembered = tuple(replace(oldest, at=T0 + at, kind=HistoryKind.LATE_EFFECT) for at in range(5, 5 + HISTORY_LIMIT))

    life.task = replace(life.task, history=remembered)

    assert state(life) == (T0 + 5, None)


def test_an_order_whose_undo_failed_needs_an_operator_from_then() -> None:
    """S7, S17."""
    life = shipping()
    assert life.undo(at=T0 + SECOND).task.needs_attention is None

    life.declined("ship/undo", at=T0 + 3 * SECOND)

    assert state(life) == (T0 + 3 * SECOND, None)


def test_a_processed_order_ended_with_its_last_step() -> None:
    """S23: its row expires some time after that."""
    life = shipping()
    life.done("ship", at=T0 + 5 * SECOND)
    assert state(life) == (None, T0 + 5 * SECOND)


def test_an_undone_order_ended_with_its_last_compensation() -> None:
    """S23, S17: and ends anew if an effect came late."""
    life = shipping()
    assert life.undo().task.ended_at is None
    life.done("ship/undo")
    life.done("charge/undo")
    assert life.done("reserve/undo", at=T0 + 8 * SECOND).task.ended_at == T0 + 8 * SECOND

    assert life.done("ship", at=T0 + 20 * SECOND).task.ended_at is None
    assert life.done("ship/undo", at=T0 + 21 * SECOND).task.ended_at == T0 + 21 * SECOND


def test_an_order_that_was_cancelled_before_it_began_ended_then() -> None:
    """S23, S17."""
    assert Life(undoable()).cancel(at=T0 + 2 * SECOND).task.ended_at == T0 + 2 * SECOND


def test_an_order_whose_last_step_ends_in_a_pause_needs_nobody() -> None:
    """I1: it is Processed, and leaves the index."""
    life = started(sequence("reserve"))
    life.pause(at=T0 + 5)
    assert state(life) == (T0 + 5, None)

    life.done("reserve")

    assert (life.task.process_state, life.task.needs_attention, life.task.due) == ("Processed", None, None)
