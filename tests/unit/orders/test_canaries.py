"""D4: what a canary is made of."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

import orders
from stepward.cli.orders.files import Written, read
from stepward.cli.verify.canaries import Canaries, _canary
from stepward.cli.verify.command import _canaries, _samples
from stepward.cli.verify.deployed import Finding
from stepward.domain.task.record import ProcessState, Task
from stepward.testing import Engine
from tests.factories import T0, shipping

ROOT = Path(__file__).parents[3]


def test_a_canary_has_an_id_of_its_own_notifies_nobody_and_is_never_late() -> None:
    sample = {"orderId": "ord-1", "replyTo": "https://sqs/shop", "completeBy": "2026-01-01T00:00:00Z", "total": "1.50"}
    assert json.loads(_canary(json.dumps(sample), "7")) == {"orderId": "canary-7", "total": "1.50"}


@pytest.mark.parametrize("body", ["[]", "not JSON", '"text"'])
def test_what_is_no_order_makes_no_canary(body: str) -> None:
    assert _canary(body, "7") == body


def made(*samples: Written) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The keys of the canaries by their workflows, and all that is sent for them."""
    ids = count(1)
    connection: Any = SimpleNamespace(deployment=SimpleNamespace(keys=orders.app.keys), new_id=lambda: f"{next(ids)}")
    canaries = Canaries(connection, samples, None, lambda _: None)
    return canaries.sent, [json.loads(it) for it in canaries._made()]


def test_the_samples_of_each_workflow_are_found_in_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """D4: with the signals that its order waits for, which none but the canary gets."""
    monkeypatch.chdir(ROOT / "docs")
    assert ROOT / "events" / "returns" / "return.json" in _samples()

    sent, messages = made(*(message for file in _samples() for message in read(file)))

    assert set(sent) == set(orders.app.keys.workflows)
    ids = {it["type"]: it["orderId"] for it in messages}
    assert set(ids) == {"order.submitted", "return.requested", "order.signal"}
    assert ids["order.signal"] == ids["return.requested"] != ids["order.submitted"]
    assert all(it["orderId"].startswith("canary-") for it in messages)
    assert [it["data"] for it in messages if it["type"] == "order.signal"] == [{"condition": "as_new"}]


def test_a_project_whose_samples_are_in_one_folder_is_verified_with_those(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L1: as `stepward new` makes it."""
    (tmp_path / "cdk.json").write_text("{}")
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "order.json").write_text("{}")
    monkeypatch.chdir(tmp_path)

    assert _samples() == [tmp_path / "events" / "order.json"]


def test_who_stops_waiting_for_canaries_learns_which_were_sent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """L5."""

    def stop(self: Canaries, within_ms: int) -> Iterator[Finding]:
        self.sent["shop"] = f"canary-{within_ms}"
        raise KeyboardInterrupt

    monkeypatch.setattr(Canaries, "findings", stop)
    nothing: Any = None

    with pytest.raises(KeyboardInterrupt):
        list(_canaries(nothing, [], 1, nothing))
    assert "the canaries were sent, and stay: canary-1000" in capsys.readouterr().err


def test_the_canary_of_a_return_ends_whichever_of_its_messages_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """D4: nobody has to help it."""
    monkeypatch.chdir(ROOT)
    sent, messages = made(*(message for file in _samples() for message in read(file)))
    with Engine(orders.app) as engine:
        for operation in {
            each for workflow in orders.app.workflows for step in workflow.steps for each in step.operations
        }:
            engine.service(operation).returns({"reference": operation.name})
        engine.clock.move(366 * 86_400)  # the sample is an old one
        for message in reversed(messages):
            engine.post("orders", json.dumps(message))
        engine.clock.move(60)
        task = engine.task(sent["returns"])

    assert task
    assert task.process_state is ProcessState.PROCESSED


@dataclass
class Stack:
    """A stack in which the canary of fulfilment comes as far as `found`."""

    found: Task | None
    denied: bool = False
    now: int = T0
    cancelled: list[Any] = field(default_factory=list)

    def connection(self) -> Any:
        deployment = SimpleNamespace(keys=orders.app.keys, orders_queue_url="", orders_table="o", tasks_table="t")
        store = SimpleNamespace(load=lambda *_, **__: self.found and SimpleNamespace(task=self.found))
        return SimpleNamespace(
            deployment=deployment,
            store=store,
            queues=SimpleNamespace(to_scheduler=self.cancelled.extend),
            sender=SimpleNamespace(send=lambda *_: None),
            now=lambda: self.now,
            new_id=lambda: "1",
        )

    def sleep(self, seconds: float) -> None:
        self.now += int(seconds * 1000)

    def delete_item(self, **_: Any) -> None:
        if self.denied:
            raise ClientError({"Error": {"Code": "AccessDenied", "Message": "denied"}}, "DeleteItem")

    def findings(self, *samples: Written) -> dict[str, Finding]:
        found = Canaries(self.connection(), samples, self, self.sleep).findings(2_000)
        return {it.check: it for it in found}


@pytest.mark.parametrize(
    ("stack", "says", "cancelled"),
    [
        (Stack(None), "not there, and was cancelled", 1),
        (Stack(shipping().task), "Processing, and was cancelled", 1),
        (Stack(shipping().declined("ship").task), "Error, and was cancelled", 1),
        (Stack(shipping().undone().task), "ended Undone; its record stays", 0),
        (Stack(shipping().done("ship").task, denied=True), "allow DeleteItem", 0),
    ],
)
def test_a_canary_that_does_not_end_well_is_no_good_news(stack: Stack, says: str, cancelled: int) -> None:
    """D4: and neither is a workflow that no sample belongs to; what cannot end by itself is cancelled."""
    found = stack.findings(*read(ROOT / "events" / "orders" / "order.json"))

    red = found["canary of fulfilment"]
    assert (red.good, len(stack.cancelled)) == (False, cancelled)
    assert says in red.says
    assert found["canary of returns"].says == "no file has an order of it; name one"
    assert not any(it.good for it in found.values())
