"""A submitter is told of a message of its own that is rejected, on the queue that this very message names."""

import json
from collections.abc import Iterator

import pytest

from stepward.domain.task.record import ProcessState
from stepward.domain.workflow.plan import Plan
from stepward.testing import Engine
from stepward.testing.settings import REPLY_TO
from stepward.wire.notices import encode_reject
from tests.factories import ORDER_ID, planned
from tests.planned_app import PlannedApp

OTHER = REPLY_TO + "-b"
CONFLICT = f"orderId: {ORDER_ID!r} was submitted before with other content"


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An order that is done; its submitter is told on another queue than the one that the tests use."""
    with Engine(PlannedApp(Plan("shop", 1, (planned("reserve"),)))) as engine:
        engine.submit(None, {"orderId": ORDER_ID, "correlationId": "first", "replyTo": OTHER})
        engine.run()
        yield engine


def told(engine: Engine, **content: object) -> list[tuple[str, str, str, str]]:
    """What is told of a message with this content, which is rejected."""
    before = len(engine.rejects)
    engine.submit(None, {"orderId": ORDER_ID, "replyTo": REPLY_TO, "correlationId": "mine"} | content)
    engine.run()
    assert len(engine.rejects) == before + 1
    rejected = engine.parts.notices.rejected
    return [(each.order_id, each.correlation_id, each.reply_to, each.reason) for each in rejected]


def test_a_conflict_is_told_to_its_own_submitter(engine: Engine) -> None:
    """S19: with the correlation id of the message, and nothing of the order that has the id."""
    heard = list(engine.notices)

    assert told(engine) == [(ORDER_ID, "mine", REPLY_TO, CONFLICT)]

    assert engine.notices == heard
    assert engine.order(ORDER_ID).state == ProcessState.PROCESSED
    (notice,) = engine.parts.notices.rejected
    assert json.loads(encode_reject(notice)) | {"at": ""} == {
        "type": "order.rejected",
        "orderId": ORDER_ID,
        "correlationId": "mine",
        "reason": CONFLICT,
        "at": "",
    }


def test_any_other_fault_is_told_too(engine: Engine) -> None:
    found = told(engine, orderId="ord-9", priority="HIGH")
    assert [each[:3] for each in found] == [("ord-9", "mine", REPLY_TO)]
    assert found[0][3].startswith("priority: ")


@pytest.mark.parametrize(
    "content",
    [{"replyTo": "https://sqs.us-east-1.amazonaws.com/999999999999/other"}, {"replyTo": 5}, {"orderId": "a/b"}],
    ids=["a queue that is not allowed", "no queue", "no order id"],
)
def test_who_cannot_be_told_is_not_told(engine: Engine, content: dict[str, object]) -> None:
    """Rule 15: nothing is sent to a queue outside the allow list."""
    assert told(engine, **content) == []


@pytest.mark.parametrize("part", ["submission", "scheduler"])
def test_a_death_loses_neither_the_reject_nor_its_notice(engine: Engine, part: str) -> None:
    """Once more is possible: each notice of one message has the same name."""
    for call in range(1, 4):
        engine.kill(part, call, after=True)
        engine.submit(None, {"orderId": ORDER_ID, "correlationId": f"try-{call}"})
        engine.run()
        found = {each.name for each in engine.parts.notices.rejected if each.correlation_id == f"try-{call}"}
        assert len(found) == 1
        engine.pulse.kills.clear()
