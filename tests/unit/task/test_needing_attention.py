"""Since when an order needs an operator, and when it ended: what the sparse index and the expiry go by."""

from tests.factories import SECOND, T0, Life, sequence, undoable


def shipping() -> Life:
    life = Life(undoable())
    life.start()
    life.done("reserve")
    life.done("charge")
    return life


def test_an_order_under_way_needs_nobody_and_has_not_ended() -> None:
    """S7."""
    life = Life(sequence("reserve"))
    assert (life.task.needs_attention, life.task.ended_at) == (None, None)

    life.start()
    life.overdue("reserve")

    assert (life.task.needs_attention, life.task.ended_at) == (None, None)


def test_an_order_in_error_needs_an_operator_from_then_until_it_is_resubmitted() -> None:
    """S7."""
    life = shipping()
    life.declined("ship", at=T0 + 7 * SECOND)
    assert (life.task.needs_attention, life.task.ended_at) == (T0 + 7 * SECOND, None)

    after = life.resubmit("ship", 1, at=T0 + 9 * SECOND).task

    assert after.needs_attention is None


def test_an_order_whose_undo_failed_needs_an_operator_from_then() -> None:
    """S7, S17."""
    life = shipping()
    life.undo(at=T0 + SECOND)
    assert life.task.needs_attention is None

    after = life.declined("ship/undo", at=T0 + 3 * SECOND).task

    assert (after.needs_attention, after.ended_at) == (T0 + 3 * SECOND, None)


def test_a_processed_order_ended_with_its_last_step() -> None:
    """S23: its row expires some time after that."""
    life = shipping()

    life.done("ship", at=T0 + 5 * SECOND)

    assert (life.task.ended_at, life.task.needs_attention) == (T0 + 5 * SECOND, None)


def test_an_undone_order_ended_with_its_last_compensation() -> None:
    """S23, S17: and ends anew if an effect came late."""
    life = shipping()
    begun = life.undo().task
    assert begun.ended_at is None
    life.done("ship/undo")
    life.done("charge/undo")
    undone = life.done("reserve/undo", at=T0 + 8 * SECOND).task
    assert undone.ended_at == T0 + 8 * SECOND

    again = life.done("ship", at=T0 + 20 * SECOND).task
    assert again.ended_at is None
    ended = life.done("ship/undo", at=T0 + 21 * SECOND).task

    assert ended.ended_at == T0 + 21 * SECOND


def test_an_order_that_was_cancelled_before_it_began_ended_then() -> None:
    """S23, S17."""
    life = Life(undoable())

    life.cancel(at=T0 + 2 * SECOND)

    assert life.task.ended_at == T0 + 2 * SECOND
