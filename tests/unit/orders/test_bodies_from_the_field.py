"""Message bodies that broke systems like this one; each has one right outcome."""

import json
from pathlib import Path
from typing import Any

import pytest

from orders import app
from stepward.domain.errors import Rejected
from stepward.domain.messages import Callback, Cancel, SignalGiven
from stepward.wire.envelope import Ignored
from stepward.wire.order import Accepted, accept

FILES = sorted((Path(__file__).parents[2] / "field_cases").glob("bodies_*.json"))
CASES: list[dict[str, Any]] = [case for file in FILES for case in json.loads(file.read_text())["cases"]]


def outcome(body: str) -> dict[str, str]:
    try:
        taken = accept(body, app.schemas, sources=app.sources)
    except Rejected as fault:
        return {"outcome": "rejected", "field": fault.field, "says": fault.reason}
    match taken:
        case Accepted():
            return {"outcome": "accepted", "orderId": taken.order.order_id}
        case Cancel() | SignalGiven():
            return {"outcome": "cancelled", "orderId": taken.order_id}
        case Callback():
            return {"outcome": "answered"}
        case Ignored():
            return {"outcome": "ignored", "what": taken.what}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_a_body_from_the_field_has_its_one_right_outcome(case: dict[str, Any]) -> None:
    """Bad input gets a clear error that names the field and the reason."""
    seen = outcome(case["body"])
    expected = {key: value for key, value in case.items() if key not in {"why", "body", "says"}}
    assert expected.items() <= seen.items()
    assert case.get("says", "") in seen.get("says", "")


def test_the_cases_are_found() -> None:
    assert len(FILES) == 7
    assert {case["outcome"] for case in CASES} == {"accepted", "rejected", "ignored"}
