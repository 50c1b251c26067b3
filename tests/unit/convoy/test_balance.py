"""What the events of an order come to."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stepward.domain.convoy.balance import Account, Change, account_of
from stepward.domain.convoy.event import Kept, Op, OrderEvent

DETAILS: dict[str, Mapping[str, Any]] = {}


def kept(place: int, op: Op, passed_over: str = "", **details: Any) -> Kept:
    modifies, end = details.pop("modifies", None), details.pop("end", False)
    event = OrderEvent("ord-1", repr((place, details)), "", op, place, modifies, end=end)
    DETAILS[event.body] = details
    return Kept(place, event, passed_over)


def said(place: int, details: Mapping[str, Any], modifies: int | None = None) -> Kept:
    return kept(place, Op.MODIFY if modifies else Op.ADD, modifies=modifies, **details)


def folded(*events: Kept) -> Account:
    return account_of(events, lambda event: DETAILS[event.body])


def test_an_order_is_its_create_with_what_was_added() -> None:
    """C2."""
    account = folded(kept(1, Op.CREATE, currency="EUR"), kept(2, Op.ADD, amount="5"), kept(3, Op.ADD, amount="7"))

    assert account.order is not None
    assert account.order.details == {"currency": "EUR"}
    assert {place: each.details["amount"] for place, each in account.additions.items()} == {2: "5", 3: "7"}


def test_a_change_replaces_the_fields_it_names_and_the_history_stays() -> None:
    """C2."""
    account = folded(
        kept(1, Op.CREATE, currency="EUR", note="a"),
        kept(2, Op.ADD, sku="x", amount="5"),
        kept(3, Op.MODIFY, modifies=2, amount="6"),
        kept(4, Op.MODIFY, modifies=1, note="b"),
        kept(5, Op.MODIFY, modifies=2, amount="7"),
    )

    assert account.order is not None
    assert account.order.details == {"currency": "EUR", "note": "b"}
    changed = account.additions[2]
    assert changed.details == {"sku": "x", "amount": "7"}
    assert changed.history == (
        Change(2, {"sku": "x", "amount": "5"}),
        Change(3, {"amount": "6"}),
        Change(5, {"amount": "7"}),
    )


def test_a_cancellation_and_an_end_are_told_with_their_places() -> None:
    account = folded(kept(1, Op.CREATE), kept(2, Op.DELETE), kept(3, Op.ADD, end=True))
    assert (account.cancelled, account.ended) == (2, 3)
    assert folded() == Account()


def test_what_was_passed_over_has_no_effect_and_is_not_forgotten() -> None:
    """C6."""
    skipped = kept(2, Op.ADD, "skipped by ada: twice", amount="5")
    ended = kept(3, Op.DELETE, "skipped by ada: wrong order", end=True)
    account = folded(kept(1, Op.CREATE), skipped, ended)

    assert account.additions == {}
    assert (account.cancelled, account.ended) == (0, 0)
    assert account.passed_over == (skipped, ended)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.dictionaries(st.sampled_from("abc"), st.integers()))))
def test_the_account_is_what_a_plain_replay_makes(steps: list[tuple[bool, int, dict[str, int]]]) -> None:
    """I7: field by field, the last word counts."""
    plain: dict[int, dict[str, int]] = {1: {}}
    events = [kept(1, Op.CREATE)]
    for place, (adds, back, details) in enumerate(steps, start=2):
        target = sorted(plain)[back % len(plain)]
        events.append(said(place, details, None if adds else target))
        plain[place if adds else target] = {**({} if adds else plain[target]), **details}

    account = folded(*events)

    found = {place: each.details for place, each in account.additions.items()}
    assert found | {1: account.order.details if account.order else {}} == plain
