"""D4: what a canary is made of."""

import json

import pytest

from stepward.cli.verify.canaries import _canary


def test_a_canary_has_an_id_of_its_own_notifies_nobody_and_is_never_late() -> None:
    sample = {"orderId": "ord-1", "replyTo": "https://sqs/shop", "completeBy": "2026-01-01T00:00:00Z", "total": "1.50"}
    assert json.loads(_canary(json.dumps(sample), "7")) == {"orderId": "canary-7", "total": "1.50"}


@pytest.mark.parametrize("body", ["[]", "not JSON", '"text"'])
def test_what_is_no_order_makes_no_canary(body: str) -> None:
    assert _canary(body, "7") == body
