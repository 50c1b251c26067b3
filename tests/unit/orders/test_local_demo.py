"""The demonstration takes a project's own sample orders, and a fault of a service that they call."""

import json
from pathlib import Path

import pytest

from orders import app
from stepward.cli.local.demo.acts import acts_of, samples_of
from stepward.cli.user_error import UserError
from stepward.local.services import FaultKind

EVENTS = Path(__file__).parents[3] / "events"


def test_each_sample_meets_each_accident_under_an_id_of_its_own() -> None:
    samples = samples_of(app, EVENTS)
    acts = acts_of(app, samples)
    faults = [act.fault for act in acts if act.fault]

    assert {sample.plan.workflow for sample in samples} == {"fulfilment", "returns"}
    assert len({act.key for act in acts}) == len(acts) == 5 * len(samples)
    assert [json.loads(act.body)["orderId"] for act in acts] == [f"demo-{number}" for number in range(1, len(acts) + 1)]
    assert {fault.service for fault in faults} <= set(app.services)
    assert all(fault.target == act.key for act in acts if (fault := act.fault))
    assert {fault.kind for fault in faults} == {FaultKind.FAIL, FaultKind.DIE_AFTER_EFFECT, FaultKind.DECLINE}


def test_a_sample_that_the_application_rejects_is_named_with_field_and_reason(tmp_path: Path) -> None:
    (tmp_path / "order.json").write_text(json.dumps({"type": "order.submitted", "orderId": "o-1", "version": 1}))
    with pytest.raises(UserError, match=r"(?s)is an order of type order.submitted or .*order.json: \w+: "):
        samples_of(app, tmp_path)
