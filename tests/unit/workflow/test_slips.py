"""The commonest slips of a definition name the step, the argument, and what to write instead."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from stepward import Agent, App, Call, Child, Fallback, Remind, RetryAfter, Signal, Step, Timer, Workflow, minutes
from stepward.domain.errors import WorkflowError

bank = Agent("bank")
make: Any = Workflow
step: Any = Step
operation: Any = bank.operation


def plain(_: Call) -> dict[str, str]:
    return {}


def nothing() -> dict[str, str]:
    return {}


async def later(_: Call) -> dict[str, str]:
    return {}


@bank.operation
def charge(_: Call) -> dict[str, str]:
    return {}


CHARGES = Step(charge, complete_within=minutes(1))
FUNCTION = r"^step 'plain': operation is the function 'plain'; make it one: write @AGENT.operation above it"


@pytest.mark.parametrize(
    ("slip", "says"),
    [
        (lambda: step(plain), FUNCTION),
        (lambda: step(charge, undo=plain), r"^step 'charge': undo is the function 'plain'; .*@AGENT.operation"),
        (lambda: step(charge()), r"^operation 'charge' is called without a Call; write charge, without \(\)"),
        (lambda: step({}), r"operation is dict; write the operation's name, without calling it"),
        (
            lambda: step(charge, complete_within=60),
            r"^step 'charge': complete_within is 60 \(int\); write complete_within=seconds\(60\), or minutes",
        ),
        (lambda: step(charge, threshold="3"), r"threshold is '3' \(str\); write a whole number: threshold=3"),
        (
            lambda: make("shop", 1, [step(charge, complete_within=minutes(1), on_timeout="undo")]),
            r"^step 'charge': on_timeout takes .* not str; write UNDO without quotes, and from stepward import UNDO",
        ),
        (lambda: step(charge, on_permanent="undo"), r"on_permanent is 'undo' \(str\); it takes UNDO or ALERT.*import"),
        (lambda: step(charge, after=charge), r"after is the operation 'charge'; write a list: after=\[charge\]"),
        (lambda: make("shop", "1", [CHARGES]), r"^workflow 'shop': version is '1' \(str\); .*: version=1"),
        (lambda: make("shop", 1, CHARGES), r"^workflow 'shop': steps is Step; write a list: steps=\[...\]"),
        (lambda: make("shop", 1, [charge]), r"steps\[0\] is the operation 'charge'; write Step\("),
        (lambda: make("shop", 1, [CHARGES], complete_within=2), r"write complete_within=seconds\(2\)"),
        (lambda: make("shop", 1, [CHARGES], on_timeout=timedelta(1)), r"on_timeout is timedelta; it takes UNDO or"),
        (lambda: App("shop", make("shop", 1, [CHARGES])), r"^app 'shop': workflows is Workflow; write a list"),
        (lambda: App("shop", [charge]), r"workflows\[0\] is the operation 'charge'; write workflows="),  # type: ignore[list-item]
        (lambda: Agent("bank", max_concurrency="5"), r"max_concurrency is '5' \(str\)"),  # type: ignore[arg-type]
        (lambda: Agent("bank", services="bank"), r"services is 'bank' \(str\); write several: services=\('bank',\)"),  # type: ignore[arg-type]
        (
            lambda: step(charge, when=plain),
            r"^step 'charge': when is the function .*; .*: when=ref.order\(",
        ),
        (lambda: step(charge, when=True), r"when is True \(bool\); write a condition on a ref"),
        (lambda: make("shop", 1, [CHARGES], order=dict), r"order is the class 'dict'; write order=a subclass of Order"),
        (
            lambda: App("shop", [make("shop", 1, [CHARGES])], event=Call),
            r"event is the class 'Call'; .* of EventMessage",
        ),
        (
            lambda: operation(nothing),
            r"^agent 'bank': operation 'nothing' has no parameter; write def nothing\(call",
        ),
        (lambda: operation(later), r"operation 'later' is async; write def later\(call: Call\), without async"),
        (lambda: RetryAfter(30), r"^RetryAfter: delay is 30 \(int\); write delay=seconds\(30\)"),  # type: ignore[arg-type]
        (lambda: Fallback(plain), r"^Fallback: operation is the function 'plain'"),  # type: ignore[arg-type]
        (lambda: Remind(1), r"^Remind: delay is 1"),  # type: ignore[arg-type]
        (lambda: Timer("wait", 7), r"^step 'wait': span is 7 \(int\)"),  # type: ignore[arg-type]
        (lambda: Signal("ok", dict, 7), r"^step 'ok': complete_within is 7"),  # type: ignore[arg-type]
        (lambda: Child("c", make("w", 1, [CHARGES]), on_undone="undo"), r"^step 'c': on_undone is 'undo'"),  # type: ignore[arg-type]
    ],
)
def test_a_slip_names_the_step_the_argument_and_the_mend(slip: Callable[[], object], says: str) -> None:
    with pytest.raises(WorkflowError, match=says):
        slip()
