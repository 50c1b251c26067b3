"""The commonest slips of a definition name the step, the argument, and what to write instead."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from stepward import (
    Agent,
    App,
    Call,
    Child,
    Fallback,
    OrderMessage,
    Remind,
    RetryAfter,
    Signal,
    Step,
    Timer,
    Workflow,
    minutes,
    ref,
)
from stepward.app_checks import unfit_messages
from stepward.domain.errors import WorkflowError

agent: Any = Agent
bank = Agent("bank")
app: Any = App
make: Any = Workflow
step: Any = Step
child: Any = Child
signal: Any = Signal
timer: Any = Timer
operation: Any = bank.operation


def wrong(value: object) -> Any:
    return value


def plain(_: Call) -> dict[str, str]:
    return {}


def nothing() -> dict[str, str]:
    return {}


class Purchase(OrderMessage, frozen=True, kw_only=True):
    """An order, and no event."""


def needy(_: Call, __: int) -> dict[str, str]:
    return {}


def yielding(_: Call) -> Iterator[int]:
    yield 1


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
        (lambda: step({}), r"operation is dict; write the operation itself, without quotes and without calling it"),
        (lambda: step(None), r"operation is None; write the operation itself"),
        (lambda: step(bank), r"operation is Agent; write the operation itself"),
        (lambda: step(charge, undo="refund"), r"undo is 'refund' \(str\); write undo=refund, without quotes"),
        (lambda: step(charge, undo=lambda _: {}), r"undo is the function '<lambda>'; write a function with def"),
        (
            lambda: make("shop", 1, [step(charge, undo=charge, complete_within=minutes(1))]),
            r"'charge' is the operation and",
        ),
        (lambda: wrong(bank)(plain), r"^agent 'bank' is no decorator; write @bank.operation"),
        (lambda: operation(charge), r"^agent 'bank': .* not of the operation 'charge'; write @bank.operation once"),
        (lambda: step(operation(lambda _: {})), r"operation is the operation '<lambda>'; write a function with def"),
        (lambda: operation(partial(wrong(needy), 1)), r"function with a name, not of partial; write @bank.operation"),
        (lambda: operation(dict), r"not of the class 'dict'"),
        (
            lambda: operation(needy),
            r"'needy' takes 2 arguments, and gets one, the call.*; write def needy\(call: Call\)",
        ),
        (lambda: operation(yielding), r"'yielding' yields, and nothing takes what it yields; write def yielding"),
        (lambda: agent(None), r"^agent None: name is None; write a text"),
        (lambda: agent("My bank"), r"^agent 'My bank': a name is 1-30 .*; such as 'my-bank'$"),
        (lambda: agent("bank", environment={"MODE": 1}), r"^agent 'bank': environment is texts by their names"),
        (lambda: make("1 Shop", 1, [CHARGES]), r"^workflow '1 Shop': a name is .*; such as 'shop'$"),
        (lambda: step(charge, after="reserve"), r"after is 'reserve' \(str\); write a list: after=\['reserve'\]"),
        (lambda: step(charge, after=[plain]), r"after is list; it holds the function 'plain'; write the steps"),
        (lambda: wrong(ref)("amount"), r'^a ref says of what: ref.order\("amount"\)'),
        (
            lambda: app("shop", [make("shop", 1, [CHARGES])], sources=plain),
            r"sources is the function 'plain'; write a li",
        ),
        (
            lambda: app("shop", [make("shop", 1, [CHARGES])], event=Purchase),
            r"event is the class 'Purchase'; .*EventMess",
        ),
        (lambda: step(charge, when=ref.order("amount")), r"when is Ref; write a condition on a ref"),
        (
            lambda: ref.result(wrong(plain)),
            r"^ref.result takes a step, its operation or its name, not the function 'plain'",
        ),
        (
            lambda: timer("wait", until="2027-01-01"),
            r"^step 'wait': until is '2027.*; write a ref .*: until=ref.order\(",
        ),
        (lambda: signal("ok", "Approval"), r"^step 'ok': message is 'Approval' \(str\); write a class"),
        (lambda: child("c", "returns"), r"^step 'c': workflow is 'returns' \(str\); write the workflow itself"),
        (lambda: child("c", make("w", 1, [CHARGES]), {"a": 5}), r"^step 'c': order\['a'\] is 5 \(int\); write a ref"),
        (
            lambda: app("shop", [make("shop", 1, [CHARGES])], default="shop"),
            r"default is 'shop' \(str\); write the workf",
        ),
        (
            lambda: make("shop", 1, [CHARGES], draining=[charge]),
            r"draining\[0\] is the operation 'charge'; write Step\(",
        ),
        (
            lambda: step(charge, complete_within=60),
            r"^step 'charge': complete_within is 60 \(int\); write complete_within=seconds\(60\), or minutes",
        ),
        (lambda: step(charge, threshold="3"), r"threshold is '3' \(str\); write a whole number: threshold=3"),
        (
            lambda: make("shop", 1, [step(charge, complete_within=minutes(1), on_timeout="undo")]),
            r"^step 'charge': on_timeout takes .* not 'undo' \(str\); write UNDO without quotes, and from stepward",
        ),
        (lambda: step(charge, on_permanent="undo"), r"on_permanent is 'undo' \(str\); it takes UNDO or ALERT.*import"),
        (lambda: step(charge, after=charge), r"after is the operation 'charge'; write a list: after=\[charge\]"),
        (lambda: make("shop", "1", [CHARGES]), r"^workflow 'shop': version is '1' \(str\); .*: version=1"),
        (lambda: make("shop", 1, CHARGES), r"^workflow 'shop': steps is Step; write a list: steps=\[...\]"),
        (lambda: make("shop", 1, [charge]), r"steps\[0\] is the operation 'charge'; write Step\("),
        (lambda: make("shop", 1, [CHARGES], complete_within=2), r"write complete_within=seconds\(2\)"),
        (lambda: make("shop", 1, [CHARGES], on_timeout=timedelta(1)), r"on_timeout is timedelta; it takes UNDO or"),
        (lambda: app("shop", make("shop", 1, [CHARGES])), r"^app 'shop': workflows is Workflow; write a list"),
        (lambda: app("shop", [charge]), r"workflows\[0\] is the operation 'charge'; write workflows="),
        (lambda: agent("bank", max_concurrency="5"), r"max_concurrency is '5' \(str\)"),
        (lambda: agent("bank", services="bank"), r"services is 'bank' \(str\); write several: services=\('bank',\)"),
        (
            lambda: step(charge, when=plain),
            r"^step 'charge': when is the function .*; .*: when=ref.order\(",
        ),
        (lambda: step(charge, when=True), r"when is True \(bool\); write a condition on a ref"),
        (lambda: make("shop", 1, [CHARGES], order=dict), r"order is the class 'dict'; write order=a subclass of Order"),
        (
            lambda: app("shop", [make("shop", 1, [CHARGES])], event=Call),
            r"event is the class 'Call'; .* of EventMessage",
        ),
        (
            lambda: operation(nothing),
            r"^agent 'bank': operation 'nothing' has no parameter for the call; write def nothing\(call",
        ),
        (lambda: operation(later), r"operation 'later' is async, and .*; write def later\(call: Call\), which returns"),
        (lambda: RetryAfter(wrong(30)), r"^RetryAfter: delay is 30 \(int\); write delay=seconds\(30\)"),
        (lambda: Fallback(wrong(plain)), r"^Fallback: operation is the function 'plain'"),
        (lambda: Remind(wrong(1)), r"^Remind: delay is 1"),
        (lambda: timer("wait", 7), r"^step 'wait': span is 7 \(int\)"),
        (lambda: signal("ok", dict, 7), r"^step 'ok': complete_within is 7"),
        (lambda: child("c", make("w", 1, [CHARGES]), on_undone="undo"), r"^step 'c': on_undone is 'undo'"),
    ],
)
def test_a_slip_names_the_step_the_argument_and_the_mend(slip: Callable[[], object], says: str) -> None:
    with pytest.raises(WorkflowError, match=says):
        slip()


def test_an_operation_that_hides_another_one_of_its_module_is_refused_with_the_line() -> None:
    module = {"bank": bank, "shop": Agent("shop")}
    twice = "@bank.operation\ndef cancel(call): ...\n@shop.operation\ndef cancel(call): ...\n"

    with pytest.raises(WorkflowError, match=r"^agent 'shop': operation 'cancel' hides the .* in line 1; rename one$"):
        exec(compile(twice, "shop.py", "exec"), module)  # noqa: S102


def test_the_data_of_a_signal_may_be_a_dict_of_one_kind() -> None:
    signalled = Workflow("shop", 1, [CHARGES, Signal("ok", dict[str, str], minutes(1))])
    broken = Workflow("shop", 1, [CHARGES, Signal("ok", dict[str, Call], minutes(1))])

    assert list(unfit_messages(App("shop", [signalled]))) == []
    ((_, fault),) = unfit_messages(App("shop", [broken]))
    assert "is not supported" in fault


def test_an_operation_may_be_decorated_with_empty_brackets_and_its_module_imported_again() -> None:
    module: dict[str, Any] = {"bank": bank}
    for _ in range(2):
        exec("@bank.operation()\ndef cancel(call): return {}", module)  # noqa: S102

    assert Step(module["cancel"]).name == "cancel"
