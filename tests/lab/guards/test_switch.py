"""How guards are switched off: for everybody in the process, for a while, and never by mistake."""

import pytest

from stepward.domain.backoff import next_wait
from tests.lab.guards.asking import NoAnswer, ask
from tests.lab.guards.switch import NoSuchPosition, Patch, enclosing, switched_off

RETRYING = "stepward/domain/backoff.py"
CEILING = Patch(RETRYING, "min(LONGEST_WAIT, FIRST_WAIT << min(tries, 10))", "FIRST_WAIT << tries")


def test_a_guard_is_off_for_whoever_imported_it_and_on_again_afterwards() -> None:
    before = next_wait(20, 1.0)

    with switched_off(CEILING):
        assert next_wait(20, 1.0) == 200 << 20

    assert next_wait(20, 1.0) == before == 5_000


def test_a_guard_is_on_again_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), switched_off(CEILING):
        next_wait(1 // 0, 1.0)

    assert next_wait(20, 1.0) == 5_000


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("min(SHORTEST_WAIT, ", "0 times"),
        ("spread", "times"),
        ("FIRST_WAIT = 200", "in no function"),
    ],
)
def test_a_text_that_is_not_where_it_should_be_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(NoSuchPosition, match=complaint), switched_off(Patch(RETRYING, text, "")):
        pytest.fail("it was switched off")


def test_a_method_is_found_in_its_class() -> None:
    source = "class A:\n    x = 1\n\n    @property\n    def b(self) -> int:\n        return [1 for _ in ()]\n"

    assert enclosing(source, source.index("[1")) == "A.b"
    assert enclosing(source, source.index("x = 1")) == ""


def test_a_test_that_is_not_there_gives_no_answer() -> None:
    with pytest.raises(NoAnswer, match="not found"):
        ask(["tests/lab/guards/test_switch.py::test_that_nobody_wrote"])


def test_what_is_asked_must_pass_while_the_guard_is_on() -> None:
    found = ask(["tests/unit/task/test_backoff.py"])

    assert found.passed
    assert not found.failed
