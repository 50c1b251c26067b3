"""What the answers of SQS mean for a notice: only a fault that may pass holds anything up."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.config import Config
from botocore.exceptions import ConnectTimeoutError
from mypy_boto3_sqs import SQSClient

from stepward.adapters.sqs.delivery import Outgoing
from stepward.adapters.sqs.notices import CheckedNotices, SqsReplyQueues
from stepward.domain.errors import Transient
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Notice, Status
from stepward.domain.messages.reply_queues import Allowed, ReplyAddress
from stepward.testing.memory.notices import MemoryReplyQueues
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.sqs.fifo_queue import MemoryFifoQueue
from stepward.testing.sqs.queue import MemoryQueue
from tests.factories import T0
from tests.unit.sqs.flaky_sqs import response

URL = "https://sqs.eu-west-1.amazonaws.com/111122223333/replies-shop"
ALLOWED = Allowed(frozenset({"111122223333"}), frozenset({"eu-west-1"}), ("replies-",), "stepward-")
NOTICE = Notice("ord-1", "", URL, Status.COMPLETED, "", 7, T0)
FIELD_CASES = Path(__file__).parents[2] / "field_cases"
GONE = json.loads((FIELD_CASES / "reply_queue_gone.json").read_text())["errors"]


def client(answer: Callable[..., Any], region: str = "us-east-1") -> SQSClient:
    made = boto3.client("sqs", region_name=region, config=Config(retries={"mode": "standard", "max_attempts": 1}))
    made.meta.events.register("before-send.sqs.SendMessage", cast("Callable[..., None]", answer))
    return made


def refusing(code: str, status: int = 400) -> SQSClient:
    def answer(request: Any, **_: object) -> AWSResponse:
        return response(request.url, status, {"__type": f"com.amazonaws.sqs#{code}", "message": "no"})

    return client(answer)


def post(made: Callable[[str], SQSClient], telemetry: MemoryTelemetry | None = None) -> None:
    """The notice is posted through this client of a region."""
    CheckedNotices(SqsReplyQueues(made), ALLOWED, telemetry or MemoryTelemetry()).post(NOTICE)


DENIED = "AccessDeniedException", "KMS.DisabledException", "KmsAccessDenied", "KmsNotFound"
WRONG = "InvalidAddress", "InvalidMessageContents", "UnsupportedOperation", "SomethingNew"


@pytest.mark.parametrize("code", [*GONE, *DENIED, *WRONG])
def test_a_queue_that_is_gone_or_denied_costs_a_metric_and_nothing_else(code: str) -> None:
    """S19, field case 76: one log entry, one call, and the order goes on."""
    telemetry = MemoryTelemetry()
    post(lambda _: refusing(code), telemetry)
    [(order_id, entry)] = telemetry.history
    assert (order_id, entry.kind, entry.note) == ("ord-1", HistoryKind.NOTICE_LOST, f"completed: {URL}: {code}")


THROTTLED = "ThrottlingException", "KMS.ThrottlingException", "KmsThrottled"
BROKEN = {"RequestThrottled": 403, "ExpiredToken": 403, "InternalFailure": 500, "ServiceUnavailable": 503}


@pytest.mark.parametrize(("code", "status"), [*dict.fromkeys(THROTTLED, 400).items(), *BROKEN.items()])
def test_a_queue_that_is_busy_is_tried_again(code: str, status: int) -> None:
    """S19: a notice is sent at least once."""
    telemetry = MemoryTelemetry()
    with pytest.raises(Transient, match=f"{URL}: {code}; send again"):
        post(lambda _: refusing(code, status), telemetry)
    assert telemetry.history == []


def test_a_queue_that_cannot_be_reached_is_tried_again() -> None:
    """S19."""

    def answer(**_: object) -> None:
        raise ConnectTimeoutError(endpoint_url=URL)

    with pytest.raises(Transient, match="ConnectTimeoutError"):
        post(lambda _: client(answer))


def test_a_call_goes_to_the_region_and_host_that_were_checked() -> None:
    """Field case 76: the client is made for the region, and nothing of the address is left to it."""
    regions: list[str] = []
    hosts: list[str] = []

    def answer(request: Any, **_: object) -> AWSResponse:
        hosts.append(request.url)
        return response(request.url, 200, {"MessageId": "m-1", "MD5OfMessageBody": "-"})

    def of(region: str) -> SQSClient:
        regions.append(region)
        return client(answer, region)

    post(of)
    assert (regions, hosts) == (["eu-west-1"], ["https://sqs.eu-west-1.amazonaws.com/"])


@pytest.mark.parametrize(("code", "reason"), [("QueueDoesNotExist", None), ("InvalidMessageContents", "\x0b")])
def test_the_twin_in_memory_tells_lost_from_busy(code: str, reason: str | None) -> None:
    queue = MemoryQueue(name="replies-shop", clock=lambda: T0)
    address = ReplyAddress(URL, fifo=False, region="eu-west-1")
    assert MemoryReplyQueues({URL: queue} if reason else {})(address, Outgoing(reason or "hello")) == f"{URL}: {code}"
    queue.faults = lambda _: "InternalError"
    with pytest.raises(Transient, match="InternalError"):
        MemoryReplyQueues({URL: queue})(address, Outgoing("hello"))


def test_the_orders_of_one_submitter_do_not_wait_for_each_other() -> None:
    """S19: the order is the group of a first-in-first-out queue."""
    queue = MemoryFifoQueue(name="replies-shop.fifo", clock=lambda: T0)
    fifo = replace(NOTICE, reply_to=f"{URL}.fifo")
    notices = CheckedNotices(MemoryReplyQueues({fifo.reply_to: queue}), ALLOWED, MemoryTelemetry())
    for notice in (fifo, replace(fifo, revision=8), replace(fifo, order_id="ord-2")):
        notices.post(notice)
    received = [message for _ in range(2) for message in queue.receive(1)]
    assert [message.attributes["MessageGroupId"] for message in received] == ["ord-1", "ord-2"]
