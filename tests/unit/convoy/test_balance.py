"""What the events of an order come to."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stepward.domain.convoy.balance import Amendment, Balance, balance_of
from stepward.domain.convoy.event import Op, OrderEvent, StoredEvent

DETAILS: dict[str, Mapping[str, Any]] = {}


def stored(position: int, op: Op, skipped: str = "", **details: Any) -> StoredEvent:
    modifies, end = details.pop("modifies", None), details.pop("end", False)
    event = OrderEvent("ord-1", repr((position, details)), "", op, position, modifies, end=end)
    DETAILS[event.body] = details
    return StoredEvent(position, event, skipped)


def folded(*events: StoredEvent) -> Balance:
    return balance_of(events, lambda event: DETAILS[event.body])


def test_an_order_is_its_create_with_what_was_added() -> None:
    """C2."""
    balance = folded(stored(1, Op.CREATE, currency="EUR"), stored(2, Op.ADD, amount="5"), stored(3, Op.ADD, amount="7"))

    assert balance.order is not None
    assert balance.order.details == {"currency": "EUR"}
    assert {position: each.details["amount"] for position, each in balance.additions.items()} == {2: "5", 3: "7"}


def test_a_change_replaces_the_fields_it_names_and_the_history_stays() -> None:
    """C2."""
    balance = folded(
        stored(1, Op.CREATE, currency="EUR", note="a"),
        stored(2, Op.ADD, sku="x", amount="5"),
        stored(3, Op.MODIFY, modifies=2, amount="6"),
        stored(4, Op.MODIFY, modifies=1, note="b"),
        stored(5, Op.MODIFY, modifies=2, amount="7"),
    )

    assert balance.order is not None
    assert balance.order.details == {"currency": "EUR", "note": "b"}
    changed = balance.additions[2]
    assert changed.details == {"sku": "x", "amount": "7"}
    history = {2: {"sku": "x", "amount": "5"}, 3: {"amount": "6"}, 5: {"amount": "7"}}
    assert changed.history == tuple(Amendment(position, details) for position, details in history.items())


def test_a_cancellation_and_an_end_have_their_positions() -> None:
    balance = folded(stored(1, Op.CREATE), stored(2, Op.DELETE), stored(3, Op.ADD, end=True))
    assert (balance.cancelled, balance.ended) == (2, 3)
    assert folded() == Balance()


def test_what_was_skipped_has_no_effect_and_is_not_forgotten() -> None:
    """C6."""
    skipped = stored(2, Op.ADD, "skipped by ada: twice", amount="5")
    ended = stored(3, Op.DELETE, "skipped by ada: wrong order", end=True)
    balance = folded(stored(1, Op.CREATE), skipped, ended)

    assert balance.additions == {}
    assert (balance.cancelled, balance.ended) == (0, 0)
    assert balance.skipped == (skipped, ended)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.dictionaries(st.sampled_from("abc"), st.integers()))))
def test_the_balance_is_what_a_plain_replay_makes(steps: list[tuple[bool, int, dict[str, Any]]]) -> None:
    """I7: field by field, the last change counts."""
    plain: dict[int, dict[str, int]] = {1: {}}
    events = [stored(1, Op.CREATE)]
    for position, (adds, back, details) in enumerate(steps, start=2):
        target = sorted(plain)[back % len(plain)]
        events.append(stored(position, Op.ADD if adds else Op.MODIFY, modifies=None if adds else target, **details))
        plain[position if adds else target] = {**({} if adds else plain[target]), **details}

    balance = folded(*events)

    found = {position: each.details for position, each in balance.additions.items()}
    assert found | {1: balance.order.details if balance.order else {}} == plain
