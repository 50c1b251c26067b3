"""O1: what an operator looks for, in a line of text."""

import pytest

from stepward.domain.errors import Rejected
from stepward.operator.filters import Filter
from stepward.operator.rows import Row

NOW = 1_790_000_000_000
ROW = Row(
    "line~acme~ord-17", "ord-17", "line", "acme", "Error", "charge, ship", "charge: Declined by the bank", NOW, NOW, NOW
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", True),
        ("step=charge reason~declined since=2h workflow=line state=error id^ord-1 customer=acme", True),
        ("id=ord-17", True),
        ("id=line~acme~ord-17", True),
        ("id=ord-1", False),
        ("step=ship", True),
        ("step=shi", False),
        ("reason~'by the'", True),
        ("reason^declined", False),
        ("reason~declined step=reserve", False),
        ("before=1s", False),
        ("before=2099-01-01", True),
        ("since=2099-01-01T12:00Z", False),
    ],
)
def test_every_term_of_a_filter_has_to_hold(text: str, *, found: bool) -> None:
    assert Filter.parse(text, now=NOW + 500).matches(ROW) is found


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stp=charge", "'stp=charge' is no condition.*step, reason.*since"),
        ("declined", "'declined' is no condition"),
        ("step=", "lacks its text"),
        ("state=broken", "names no state.*UndoFailed"),
        ("state~err", "names no state"),
        ("since=yesterday", "since=2h"),
        ("since=99999999d before=-3", "names no time"),
        ("since~2h", "names no time"),
        ("reason~'open", "closing quote"),
    ],
)
def test_a_bad_term_is_refused_by_name_with_the_allowed_ones(text: str, said: str) -> None:
    with pytest.raises(Rejected, match=said):
        Filter.parse(text, now=NOW)
