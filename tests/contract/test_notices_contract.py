"""What every implementation of the notices promises, in memory, on moto and on the local cloud."""

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import boto3
import pytest
from mypy_boto3_sqs import SQSClient

from stepward.adapters.sqs.notices import CheckedNotices, Post, SqsReplyQueues
from stepward.domain.history import HistoryKind
from stepward.domain.messages import Notice, Status
from stepward.domain.messages.reply_queues import Allowed
from stepward.testing.memory.notices import MemoryReplyQueues
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.sqs.fifo_queue import MemoryFifoQueue
from stepward.testing.sqs.queue import MemoryQueue
from stepward.testing.sqs.source import SqsSource
from tests.contract.worlds.access import Access
from tests.emptied import emptied
from tests.factories import T0

OWN = "stepward-orders"
NAMES = ("replies-shop", "replies-shop.fifo", OWN)


@dataclass
class World:
    """Three queues that exist, by their short names; what `OWN` names is allowed by its prefix, and still our own."""

    post: Post
    urls: Mapping[str, str]
    read: Callable[[str], list[str]]
    endpoint: str = ""
    telemetry: MemoryTelemetry = field(default_factory=MemoryTelemetry)

    @property
    def notices(self) -> CheckedNotices:
        accounts = frozenset({self.urls[OWN].split("/")[-2]})
        allowed = Allowed(accounts, frozenset({"us-east-1"}), ("replies-", "st"), "stepward-", self.endpoint)
        return CheckedNotices(self.post, allowed, self.telemetry)

    def notice(self, queue: str, **changes: Any) -> Notice:
        url = self.urls.get(queue) or f"{self.urls[OWN].rpartition('/')[0]}/{queue}"
        return replace(Notice("ord-1", "checkout-1", url, Status.STEP_COMPLETED, "charge", 4, T0), **changes)

    def arrived(self, queue: str) -> list[Any]:
        return [json.loads(body) for body in self.read(queue)]

    def lost(self) -> list[str]:
        return [entry.note for _, entry in self.telemetry.history if entry.kind is HistoryKind.NOTICE_LOST]


def in_memory() -> World:
    def clock() -> int:
        return T0

    urls = {name: f"https://sqs.us-east-1.amazonaws.com/111122223333/{name}" for name in NAMES}
    kinds = {name: MemoryFifoQueue if name.endswith(".fifo") else MemoryQueue for name in NAMES}
    named = {name: kind(name=name, clock=clock) for name, kind in kinds.items()}
    post = MemoryReplyQueues({urls[name]: queue for name, queue in named.items()})
    return World(post, urls, lambda name: list(named[name].bodies))


def on_sqs(client: SQSClient, endpoint: str = "") -> World:
    run = uuid.uuid4().hex[:8]
    kinds: dict[str, Any] = {name: {"FifoQueue": "true"} if name.endswith(".fifo") else {} for name in NAMES}
    created = {name: (name.replace("-", f"-{run}-"), kind) for name, kind in kinds.items()}
    urls = {name: client.create_queue(QueueName=q, Attributes=kind)["QueueUrl"] for name, (q, kind) in created.items()}

    def read(name: str) -> list[str]:
        return [message.body for message in emptied(SqsSource.at(client, urls[name]))]

    return World(SqsReplyQueues(lambda _: client), urls, read, endpoint)


@pytest.fixture
def world(access: Access | None) -> World:
    return in_memory() if access is None else on_sqs(boto3.client("sqs", **access), access.get("endpoint_url", ""))


def test_a_notice_says_what_became_of_which_order_and_when(world: World) -> None:
    """S19."""
    world.notices.post(world.notice("replies-shop"))
    world.notices.post(
        world.notice("replies-shop", status=Status.UNDONE, step="", correlation_id="", revision=9, reason="complete-by")
    )
    step, end = sorted(world.arrived("replies-shop"), key=lambda notice: notice["revision"])
    names = {"orderId": "ord-1", "workflow": None, "customerId": None, "correlationId": "checkout-1"}
    state = {"status": "step-completed", "step": "charge", "revision": 4, "at": "2027-01-15T08:00:00.000Z"}
    assert step == {"type": "order.status", "reason": None} | names | state
    changed = {"correlationId": None, "status": "undone", "step": None, "revision": 9, "reason": "complete-by"}
    assert end == step | changed
    assert world.lost() == []


def test_a_notice_posted_twice_is_the_same_text_twice(world: World) -> None:
    """S19: so that the submitter recognises it."""
    for _ in range(2):
        world.notices.post(world.notice("replies-shop"))
    first, second = world.arrived("replies-shop")
    assert first == second


def test_a_first_in_first_out_queue_gets_each_notice_of_an_order_once_and_in_order(world: World) -> None:
    """S19: the order is the group, and the notice's own name is what the queue drops duplicates by."""
    done, end = Status.STEP_COMPLETED, Status.COMPLETED
    posted = [(done, "reserve", 3), (done, "charge", 4), (end, "", 4), (done, "charge", 4), (end, "", 5)]
    for status, step, revision in posted:
        world.notices.post(world.notice("replies-shop.fifo", status=status, step=step, revision=revision))
    arrived = [(notice["status"], notice["step"], notice["revision"]) for notice in world.arrived("replies-shop.fifo")]
    steps = [("step-completed", "reserve", 3), ("step-completed", "charge", 4)]
    assert arrived == [*steps, ("completed", None, 4), ("completed", None, 5)]


def test_an_order_id_of_any_length_makes_a_group(world: World) -> None:
    """Field case 17: ids of up to 128 characters, with status and step behind them."""
    world.notices.post(world.notice("replies-shop.fifo", order_id="o" * 128, step="s" * 64))
    assert [notice["orderId"] for notice in world.arrived("replies-shop.fifo")] == ["o" * 128]


@pytest.mark.parametrize("gone", ["replies-gone", "replies-gone.fifo"])
def test_a_queue_that_is_gone_costs_a_metric_and_nothing_else(world: World, gone: str) -> None:
    """S19: reply_queue_gone.json."""
    world.notices.post(world.notice(gone))
    world.notices.post(world.notice("replies-shop"))
    (note,) = world.lost()
    assert note.startswith("step-completed: ")
    assert note.endswith(("QueueDoesNotExist", "NonExistentQueue"))
    assert len(world.arrived("replies-shop")) == 1


def test_a_record_that_names_a_queue_that_is_not_allowed_is_not_believed(world: World) -> None:
    """S19, rule 15: checked again right before the call."""
    world.notices.post(world.notice(OWN))
    world.notices.post(world.notice("replies-shop", reply_to=world.urls["replies-shop"] + "?x"))
    assert [note.split(": ")[1] for note in world.lost()] == ["replyTo", "replyTo"]
    assert (world.arrived(OWN), world.arrived("replies-shop")) == ([], [])
