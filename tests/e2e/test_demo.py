"""The demonstration itself, end to end: the stack that an account would get, deployed on this machine."""

import io
import re

import pytest
from rich.console import Console

from orders.demo.run import run
from stepward.cli.orders.view import order_view

pytestmark = [pytest.mark.cloud, pytest.mark.long]

# Other tests run beside this one; a machine that is busy must not make healthy orders late three times.
PATIENT = 8_000


def test_every_order_ends_as_it_must_though_an_agent_is_killed_in_mid_call() -> None:
    """S1 to S14, S16 to S20, S22, C1 to C6, I1 to I8."""
    output = io.StringIO()
    console = Console(file=output, width=160)
    assert run(14, 3, console, order_view, ledger_orders=9, complete_within_ms=PATIENT) == 0, output.getvalue()
    text = output.getvalue()
    assert "1  the agent is killed after the effect" in text
    assert "the Supervisor recovered it" in text
    for happening in (
        "the order is Undone",
        "ended in Error: payments/refund: refused with declined",
        "an operator types: stepward resubmit",
        "its submitter cancels it",
        "its submitter is notified: undone",
        "the breaker of agent inventory is open",
        "the breaker of agent inventory is closed",
        "stops the lane",
        "the lane waits for event",
        "an operator types: stepward convoy replace",
    ):
        assert happening in text, text
    summary = "demo: 14 orders: 10 Processed, 3 Undone, 1 Error (1 alerted); 5 rejected and stored; 0 lost, 0 doubled"
    assert re.search(re.escape(summary) + r" despite [1-9]\d* repeated calls", text), (
        f"{text}\nWithout such a call, services that forget their keys would pass, too."
    )
    assert "2 orders waited for an operator and delayed no other; 0 faults" in text
    assert "all its effects are compensated" in text, "the timeline of the undone order is printed to its end"
