from stepward.domain.workflow.drawing import WIDTH, as_markdown, as_mermaid, as_text
from stepward.domain.workflow.plan import Exhausted, Plan
from tests.factories import ALERTS, HOUR, MINUTE, falls_back, planned, waits

POLICIES = (waits(30 * MINUTE, rounds=2), falls_back("bank", "charge", undo="refund"), ALERTS)
PLAN = Plan(
    "fulfilment",
    3,
    (
        planned("reserve", undo="release", complete_within=90_500),
        planned("end", complete_within=2 * HOUR, on_permanent=Exhausted.UNDO),
        planned("charge", "reserve", "end", undo="refund", exhausted=POLICIES),
        planned("ship", "charge", threshold=1, point_of_no_return=True),
    ),
    complete_within=24 * HOUR,
    on_timeout=Exhausted.UNDO,
)


def test_a_workflow_is_drawn_as_text() -> None:
    """Everything that decides what happens to an order stands in it."""
    assert as_text(PLAN).splitlines() == [
        "fulfilment, version 3; an order has 1 d, then: undo the order",
        "● reserve: worker.reserve",
        "    90.5 s an attempt; after 3 failures: alert",
        "    if refused: alert",
        "    undone by worker.release",
        "● end: worker.end",
        "    begins at once",
        "    2 h an attempt; after 3 failures: alert",
        "    if refused: undo the order",
        "    no undo",
        "● charge: worker.charge",
        "│   after reserve and end",
        "│   1 min an attempt; after 3 failures: wait 30 min (2 times), then bank.charge",
        "│     takes over (undone by bank.refund), then alert",
        "│   if refused: alert",
        "│   undone by worker.refund",
        "● ship: worker.ship",
        "    1 min an attempt; after 1 failure: alert",
        "    if refused: alert",
        "    no undo; point of no return",
    ]


def test_the_longest_names_fit_a_terminal() -> None:
    long = [planned(letter * 40, undo="u" * 100) for letter in "abc"]
    last = planned("d" * 40, *(step.name for step in long))

    assert max(map(len, as_text(Plan("w" * 40, 1, (*long, last))).splitlines())) <= WIDTH


def test_a_workflow_is_drawn_as_a_graph() -> None:
    """Whatever the names are, Mermaid can read it."""
    head, *lines = as_mermaid(PLAN).splitlines()

    assert head == "flowchart TD"
    assert lines[1].startswith('  s1["end<br/>worker.end<br/>2 h an attempt; after 3 failures: alert<br/>')
    assert lines[4:] == ["  s0 --> s2", "  s1 --> s2", "  s2 --> s3"]
    odd = as_mermaid(Plan("odd", 1, (planned('a"<b>#|'),)))
    assert odd.splitlines()[1].startswith('  s0["a#quot;#lt;b#gt;#35;|<br/>')


def test_a_workflow_is_drawn_as_a_table() -> None:
    rows = as_markdown(Plan("odd", 1, (planned("a|b"), planned("c", "a|b")))).splitlines()

    assert rows[2].startswith("| a&#124;b | worker.a&#124;b | - | 1 min an attempt; ")
    assert all(row.count("|") == 5 for row in rows)
