"""The demonstration itself, end to end: the stack that an account would get, deployed on this machine."""

import io
import re

import pytest
from rich.console import Console

from orders.demo.run import run

pytestmark = [pytest.mark.cloud, pytest.mark.long]

# Other tests run beside this one; a machine that is busy must not make healthy orders late three times.
PATIENT = 8_000


def test_every_order_ends_as_it_must_though_an_agent_is_killed_in_mid_call() -> None:
    """S1 to S14, S16 to S20, S22, C1 to C6, I1 to I8."""
    output = io.StringIO()
    console = Console(file=output, width=80)
    assert run(16, 3, console, ledger_orders=9, complete_within_ms=PATIENT) == 0, output.getvalue()
    text = output.getvalue()
    for row in ("the agent is killed after the effect +1 +1", "shipping never answers +1 +1"):
        assert re.search(row, text), f"{text}\nEvery order of this row has ended, in one state."
    for happening in (
        "its agent was killed in mid-call: the Supervisor has the step run again",
        "is Processed: each service had its effect once",
        "is Undone: its effects are compensated, the last one first",
        "payments declines it: it ends in Error",
        "its refund is declined: the operators are alerted",
        "an operator types: stepward resubmit",
        "its submitter cancels it",
        "its submitter is notified that it is undone",
        "the breaker of agent inventory is open",
        "the inventory service works again",
        "the breaker of agent inventory is closed",
        "stops the lane",
        "the lane waits for event",
        "an operator types: stepward convoy replace",
    ):
        assert happening in text, text
    sentences = [line for line in text.splitlines() if re.match(r" *\d+\.\d s  ", line)]
    assert len(sentences) <= 26, f"{text}\nA person reads a page, not a log."
    summary = "demo: 16 orders: 12 Processed, 3 Undone, 1 Error (1 alerted); 5 rejected and stored; 0 lost, 0 doubled"
    assert re.search(re.escape(summary) + r" despite [1-9]\d* repeated calls", text), (
        f"{text}\nWithout such a call, services that forget their keys would pass, too."
    )
    assert "2 orders waited for an operator and delayed no other; 0 faults" in text
