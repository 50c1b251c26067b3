"""The envelopes that SNS and EventBridge put around an order."""

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from stepward.wire.envelope import MAX_LAYERS, Ignored, open_envelope
from tests.unit.wire.refusals import refused

ORDER: dict[str, object] = {"orderId": "ord-1001"}
TOPIC = "arn:aws:sns:us-east-1:111122223333:orders"
Wrap = Callable[[object], dict[str, object]]


def by_sns(content: object) -> dict[str, object]:
    return {"Type": "Notification", "TopicArn": TOPIC, "Message": json.dumps(content)}


def by_event_bus(content: object) -> dict[str, object]:
    return {"detail-type": "order.submitted", "source": "shop.a", "detail": content}


def by_event_bus_as_text(content: object) -> dict[str, object]:
    return by_event_bus(json.dumps(content))


WRAPS = (by_sns, by_event_bus, by_event_bus_as_text)


def wrapped(content: object, wraps: tuple[Wrap, ...]) -> str:
    for wrap in wraps:
        content = wrap(content)
    return json.dumps(content)


@pytest.mark.parametrize("layers", range(MAX_LAYERS + 1))
def test_up_to_three_envelopes_of_any_kind_are_opened(layers: int) -> None:
    for wraps in product(WRAPS, repeat=layers):
        assert open_envelope(wrapped(ORDER, wraps)) == ORDER


@pytest.mark.parametrize("outermost", WRAPS)
def test_a_fourth_envelope_is_rejected(outermost: Wrap) -> None:
    assert "more than 3 envelopes" in str(refused(open_envelope, wrapped(ORDER, (by_sns,) * MAX_LAYERS + (outermost,))))


@pytest.mark.parametrize("wraps", [(), *product(WRAPS)])
@pytest.mark.parametrize("kind", ["SubscriptionConfirmation", "UnsubscribeConfirmation"])
def test_a_confirmation_of_sns_is_ignored_and_not_followed(kind: str, wraps: tuple[Wrap, ...]) -> None:
    notice = {"Type": kind, "TopicArn": TOPIC, "Message": "{}", "SubscribeURL": "https://sns.example/confirm"}
    assert open_envelope(wrapped(notice, wraps)) == Ignored(f"SNS {kind}")


def test_a_type_of_another_kind_is_no_notice() -> None:
    odd: dict[str, object] = {"Type": ["SubscriptionConfirmation"], "TopicArn": TOPIC}
    for mark in (odd, {"Type": "UnsubscribeConfirmation"}, {"Type": "Notification"}, {"Event": "s3:TestEvent"}):
        content = ORDER | mark
        assert open_envelope(json.dumps(content)) == content


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "null"), ([], "array"), (True, "true or false"), (7, "number"), (["x.MessageS3Pointer", {}], "pointer")],
)
def test_what_is_wrapped_must_be_an_object(wrap: Wrap, content: object, says: str) -> None:
    fault = refused(open_envelope, json.dumps(wrap(content)))
    assert says in str(fault)
    assert fault.field in {"Message", "detail"}


@pytest.mark.parametrize(
    "more",
    [
        {"Type": "Notification", "TopicArn": "arn", "Message": "{}"},
        {"Type": "SubscriptionConfirmation", "TopicArn": "arn"},
        {"detail-type": "gift", "source": "web", "detail": {"orderId": "other"}},
        {"Service": "Amazon S3", "Event": "s3:TestEvent"},
    ],
)
def test_no_field_of_an_order_makes_an_envelope_of_it(more: dict[str, Any]) -> None:
    """K5: what a sender writes beside the order is data."""
    order = {"orderId": "A", **more}
    assert open_envelope(json.dumps(order)) == order
