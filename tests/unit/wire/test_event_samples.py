"""The samples in tests/events are what the functions really receive."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from stepward.domain.messages import Reply, Start
from stepward.wire.ledger import Ledger, decode_ledger
from stepward.wire.messages import decode_for_scheduler, decode_request

EVENTS = Path(__file__).parents[2] / "events"


def records(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((EVENTS / f"{name}.json").read_text())["Records"]
    return found


def test_the_sample_messages_between_parts_are_decoded() -> None:
    assert decode_for_scheduler(records("sqs-scheduler-start")[0]["body"]) == Start("ord-1001")
    assert isinstance(decode_for_scheduler(records("sqs-responses-reply")[0]["body"]), Reply)
    assert decode_request(records("sqs-agent-request")[0]["body"]).agent == "payments"


@pytest.mark.parametrize("path", sorted(EVENTS.glob("sqs-*.json")), ids=lambda path: path.stem)
def test_a_sample_has_the_shape_that_sqs_sends(path: Path) -> None:
    for record in records(path.stem):
        digest = hashlib.md5(record["body"].encode(), usedforsecurity=False).hexdigest()
        assert record["md5OfBody"] == digest
        assert record["eventSourceARN"].startswith("arn:aws:sqs:us-east-1:111122223333:")
        assert record["attributes"].keys() >= {"ApproximateReceiveCount", "SentTimestamp"}


def test_the_sample_of_a_ledger_in_an_object_names_it() -> None:
    ledger = decode_ledger(records("sqs-ledger-object")[0]["body"])
    assert isinstance(ledger, Ledger)
    assert (ledger.entries, ledger.object_key) == ((), "customer-7/2026-01-01-b.jsonl")
