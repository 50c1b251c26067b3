from datetime import timedelta

from stepward.domain.workflow.agents import Agent, Operation
from stepward.domain.workflow.definition import Step, Workflow
from stepward.domain.workflow.drawing import WIDTH, as_mermaid, as_text
from stepward.domain.workflow.plan import Exhausted, Plan, StepKind
from stepward.domain.workflow.refs import ref
from stepward.domain.workflow.waits import Default, Remind, Signal, Timer
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


BANK = Agent("bank")
RISKY = ref.result("screen", "score", default=100) > 70
ENDS = ref.order("windowEnds", default="2027-01-01T00:00:00Z")
KINDS = Workflow(
    "kinds",
    1,
    [
        Step(Operation(BANK, "screen", lambda _: {}), complete_within=timedelta(minutes=1)),
        Signal(
            "approval",
            dict,
            complete_within=timedelta(days=2),
            when=RISKY,
            on_timeout=[Remind(timedelta(days=1), rounds=2), Exhausted.UNDO],
        ),
        Signal("choice", dict, complete_within=timedelta(days=2), by="operators", on_timeout=Default({"take": "a|b"})),
        Timer("cool-down", timedelta(minutes=30)),
        Timer("window", until=ENDS),
        Step(Operation(BANK, "close", lambda _: {}), complete_within=timedelta(minutes=1), when=RISKY),
    ],
).plan()


def test_each_kind_of_step_is_drawn_in_words_of_its_own() -> None:
    """W2, W3, W4."""
    assert as_text(KINDS).splitlines()[5:-4] == [
        "● approval: signal",
        "│   when screen.score is over 70 (100 if missing)",
        "│   given within 2 d, else: alert and wait 1 d (2 times), then undo the order",
        "│   if refused: alert",
        "● choice: signal",
        '│   given within 2 d, else: go on with {"take":"a|b"}',
        "│   if refused: alert",
        "│   given by operators only",
        "● cool-down: timer",
        "│   ends 30 min after it begins",
        "● window: timer",
        "│   ends at order.windowEnds (2027-01-01T00:00:00Z if missing)",
        "● close: bank.close",
    ]
    assert as_text(KINDS).splitlines()[-4] == "    when screen.score is over 70 (100 if missing)"
    nodes = as_mermaid(KINDS).splitlines()[1:7]
    assert [node[4:8] for node in nodes] == ['["sc', '[/"a', '[/"c', '(["c', '(["w', '["cl']
    assert "#quot;take#quot;" in nodes[2]


def test_every_kind_is_drawn() -> None:
    for kind in StepKind:
        step = planned("step", kind=kind, items=("order", "lines"))
        assert as_text(Plan("one", 1, (step,))).splitlines()[1].startswith("● step: ")


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
    odd = as_mermaid(Plan("odd", 1, (planned('a"<b>#|%{`}'),)))
    assert odd.splitlines()[1].startswith('  s0["a#quot;#lt;b#gt;#35;|#37;#123;#96;#125;<br/>')
