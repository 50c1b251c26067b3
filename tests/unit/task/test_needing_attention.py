"""Since when an order needs an operator, and when it ended: the sparse index and the expiry depend on them."""

from tests.factories import SECOND, T0, Life, sequence, shipping, started, undoable


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
