import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stepward.domain.errors import NotUnderstood, WorkflowError
from stepward.domain.workflow.agents import Agent, Operation
from stepward.domain.workflow.conditions import all_of, any_of, holds, none_of, read_condition, said_not, words
from stepward.domain.workflow.definition import Step
from stepward.domain.workflow.refs import Condition, read_ref, ref, resolve
from stepward.domain.workflow.values import MISSING

screen = Operation(Agent("bank"), "screen", lambda _: {})
score, defaulted = ref.result(screen, "score"), ref.result(Step(screen), "score", default=100)
total, country = ref.order("total"), ref.order("address.country")
ORDER = {"total": "12.50", "express": True, "address": {"country": "DE"}, "note": None, "items": [{"qty": 2}]}
RESULTS = {"screen": {"score": 71}}
HUGE = 10**199

EVERY_FORM = all_of(
    defaulted > 70,
    total <= Decimal("12.50"),
    any_of(country.one_of("DE", "AT"), country != "FR"),
    none_of(ref.order("note").exists()),
    ref.item("qty", default=1) == 2,
    ref.order("express") == True,  # noqa: E712 - data, not a comparison
)
FROZEN = [
    "all_of",
    ["gt", ["result", "screen", "score", 100], 70],
    ["le", ["order", "total"], ["decimal", "12.50"]],
    ["any_of", ["one_of", ["order", "address.country"], "DE", "AT"], ["ne", ["order", "address.country"], "FR"]],
    ["none_of", ["exists", ["order", "note"]]],
    ["eq", ["item", "qty", 1], 2],
    ["eq", ["order", "express"], True],
]


def test_a_condition_is_plain_data_and_comes_back_as_it_was() -> None:
    """W4."""
    assert json.loads(json.dumps(EVERY_FORM.frozen)) == FROZEN
    assert read_condition(FROZEN) == EVERY_FORM.frozen
    assert holds(EVERY_FORM.frozen, ORDER, RESULTS, {"qty": 2}) is True


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (score > 70, True),
        (score >= 71, True),
        (score < 71, False),
        (70 < score, True),  # noqa: SIM300 - a reader may write it so
        (score == Decimal("71.0"), True),
        (score != 71, False),
        (score.one_of(1, 71), True),
        (total > 12, True),
        (total == Decimal("12.5"), True),
        (total == "12.50", True),
        (total == "12.5", False),
        (country == "DE", True),
        (country.one_of("FR", "AT"), False),
        (country.exists(), True),
        (ref.result("screen").exists(), True),
        (ref.result("ship").exists(), False),
        (ref.order("note").exists(), False),
        (ref.order("note") == "x", None),
        (ref.order("note", default="x") == "x", True),
        (ref.order("absent.field") > 0, None),
        (ref.order("express") > 0, None),
        (ref.order("express") != "yes", None),
        (ref.order("items.qty") == 2, None),
        (country > 0, None),
        (ref.order("address.country", default=1) > 0, True),
        (ref.item("qty") > 0, None),
    ],
    ids=lambda given: words(given.frozen) if isinstance(given, Condition) else str(given),
)
def test_a_comparison_is_true_false_or_cannot_be_told(condition: Condition, expected: bool | None) -> None:
    """W4: a value that is missing, null or of another type is its default; without one, nobody guesses."""
    assert holds(condition.frozen, ORDER, RESULTS) is expected


YES, NO, UNKNOWN = country == "DE", country == "FR", ref.order("absent") == "DE"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (all_of(YES, YES), True),
        (all_of(UNKNOWN, YES), None),
        (all_of(UNKNOWN, NO), False),
        (any_of(NO, NO), False),
        (any_of(NO, UNKNOWN), None),
        (any_of(UNKNOWN, YES), True),
        (none_of(NO), True),
        (none_of(UNKNOWN, NO), None),
        (none_of(UNKNOWN, YES), False),
        (all_of(ref.order("absent").exists(), UNKNOWN), False),
    ],
    ids=lambda given: words(given.frozen) if isinstance(given, Condition) else str(given),
)
def test_what_decides_alone_decides_whatever_is_missing(condition: Condition, expected: bool | None) -> None:
    assert holds(condition.frozen, ORDER, RESULTS) is expected


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(HUGE)
    | st.floats()
    | st.decimals()
    | st.sampled_from([Decimal("1E+999999"), "9" * 5000, "-0", "1e5", "NaN", " 1 ", "\uff11"])
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["score", "total", "qty"]), inner),
    max_leaves=4,
)


@example(order={"total": Decimal("sNaN")}, result={"score": float("inf")}, item={"qty": HUGE})
@given(order=JSON_VALUES, result=JSON_VALUES, item=JSON_VALUES)
def test_whatever_the_data_is_a_condition_never_raises(order: Any, result: Any, item: Any) -> None:
    """W4, I12. Trap: a field that is missing ends the order, or skips its step."""
    for frozen in (*EVERY_FORM.frozen[1:], (total.one_of(1, Decimal("2.5"))).frozen, (ref.order() > 1).frozen):
        assert holds(frozen, order, {"screen": result}, item) in {True, False, None}


def test_decimal_text_compares_exactly() -> None:
    """W4: as floats, the two would be equal."""
    assert holds((total > 9007199254740992).frozen, {"total": "9007199254740992.1"}, {}) is True
    assert holds((total == Decimal("0.3")).frozen, {"total": 0.1 + 0.2}, {}) is False


def test_a_ref_distinguishes_null_from_nothing() -> None:
    note, absent = ref.order("note"), ref.order("absent")

    assert resolve(note.frozen, ORDER, {}) is None
    assert resolve(absent.frozen, ORDER, {}) is MISSING
    assert [resolve(ref.order(path, default=7).frozen, ORDER, {}) for path in ("note", "absent")] == [7, 7]
    assert resolve(ref.order("items").frozen, ORDER, {}) == [{"qty": 2}]
    assert resolve(ref.order().frozen, ORDER, {}) is ORDER
    assert resolve(read_ref(json.loads(json.dumps(defaulted.frozen))), ORDER, {}) == 100


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (lambda: 0 < score < 70, "write all_of(a, b) instead of `a and b` and of `x < y < z`"),
        (lambda: score > 70 and total > 1, "all_of(a, b)"),
        (lambda: not country.exists(), "none_of(a) instead of `not a`"),
        (lambda: country in ["FR", "DE"], ".one_of(…) instead of `in`"),
        (lambda: total > 12.5, 'order.total compared with the float 12.5, which is not exact; write Decimal("12.5")'),  # type: ignore[operator]
        (lambda: total == None, "ask with .exists()"),  # noqa: E711 - a reader may write it so
        (lambda: total > score, "order.total compared with screen.score: a ref compares with constants"),  # type: ignore[operator]
        (lambda: total > "12", "order.total: a text has no order; compare it with ==, != or .one_of(…)"),
        (lambda: total > True, "a boolean has no order"),
        (lambda: total.one_of(1, "2"), "order.total: its constants are of several types"),
        (total.one_of, "there is nothing to compare with"),
        (lambda: total == ["x"], "['x'], which is no text, whole number, Decimal or bool"),
        (lambda: total > 10**40, "over 40 digits"),
        (lambda: total > 10**5000, "over 40 digits"),
        (lambda: total > Decimal("NaN"), "not finite"),
        (lambda: total > Decimal("1E+9"), "has an exponent"),
        (lambda: country == "x" * 201, "a text of more than 200 characters"),
        (lambda: ref.order("total", default="x") > 1, "order.total: its default 'x' is not a number"),
        (lambda: ref.order("total", default=1.5), "the default of order.total is the float 1.5"),  # type: ignore[arg-type]
        (defaulted.exists, "screen.score has a default=, so it always exists"),
        (lambda: ref.order("a..b"), "a path is field names with a dot between them"),
        (lambda: all_of(score > 1, True), "all_of takes conditions, not True"),  # type: ignore[arg-type]
        (none_of, "none_of needs at least one condition"),
        (lambda: nested(11), "nested more than 10 deep"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_as_it_is_written(write: Callable[[], object], sentence: str) -> None:
    """W4. Trap: Python takes `a < b < c` and `a and b` for the last comparison alone."""
    with pytest.raises(WorkflowError) as caught:
        write()
    assert sentence in str(caught.value)


def nested(deep: int) -> Condition:
    return any_of(nested(deep - 1) if deep > 1 else YES)


@pytest.mark.parametrize(
    "raw",
    [
        ["matches", ["order", "total"], "x"],
        ["gt", ["order", "total"], 1, 2],
        ["gt", ["order", "total"], "text"],
        ["gt", ["order", "total"], 1.5],
        ["gt", ["order", "total"], None],
        ["gt", ["order", "total"], ["decimal", "NaN"]],
        ["gt", ["order", "total"]],
        ["gt", ["step", "total"], 1],
        ["gt", ["order", "total", 1, 2], 1],
        ["exists", ["order", "total"], "more"],
        ["all_of"],
        ["all_of", ["some_of", ["exists", ["order", "total"]]]],
        "true",
        None,
        {"gt": 1},
    ],
    ids=str,
)
def test_a_condition_of_newer_code_is_not_understood(raw: object) -> None:
    """W4, S14: to guess could skip a step that has to run."""
    with pytest.raises(NotUnderstood):
        read_condition(raw)


def test_a_condition_is_said_in_words() -> None:
    """W4."""
    assert words((defaulted > 70).frozen) == "when screen.score is over 70 (100 if missing)"
    assert words(EVERY_FORM.frozen) == (
        "when screen.score is over 70 (100 if missing) and order.total is at most 12.50 "
        'and (order.address.country is "DE" or "AT" or order.address.country is not "FR") '
        "and not (order.note exists) and item.qty is 2 (1 if missing) and order.express is true"
    )
    assert (
        words(none_of(score >= 1, score < 0).frozen)
        == "when none of (screen.score is at least 1, screen.score is below 0)"
    )


@pytest.mark.parametrize(
    ("condition", "words_of_it"),
    [
        (ref.order("nights") > 7, "order.nights is not over 7"),
        (ref.order("country") != "DE", 'order.country is "DE"'),
        (ref.order("note").exists(), "order.note does not exist"),
        (any_of(score > 1, score < 0), "it is not so that screen.score is over 1 or screen.score is below 0"),
    ],
)
def test_a_condition_that_does_not_hold_is_said_in_words(condition: Condition, words_of_it: str) -> None:
    """W4."""
    assert said_not(condition.frozen) == words_of_it
