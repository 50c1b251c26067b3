"""Records and messages in the form of this release, which all later code has to read (D1).

The files beside this test hold them. To write them anew, on purpose: `UPDATE=1 pytest tests/contract/kept`.
"""

import base64
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import pytest

from stepward.adapters.dynamodb.lanes import DynamoLanes
from stepward.adapters.dynamodb.shared_records import DynamoSharedRecords
from stepward.adapters.dynamodb.task_store import DynamoTaskStore
from stepward.app.agent.breakers import Breakers
from stepward.app.alerting import Throttled
from stepward.app.ledger.split import progress_of
from stepward.app.scheduler.audit_log import AuditLog
from stepward.domain.convoy.lane import Lane
from stepward.domain.coordination.call_row import CallRow
from stepward.domain.coordination.lease import lease_of
from stepward.domain.coordination.pace import Pace
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.testing.memory.queues import MemoryAlerts
from stepward.wire.convoy import decode_for_lane
from stepward.wire.messages import decode_for_scheduler, decode_request
from tests.contract.kept import samples as s
from tests.contract.test_store_contract import FULL_STEP, FULL_TASK
from tests.contract.worlds import shared_record_tables
from tests.contract.worlds.access import access_in
from tests.contract.worlds.lane_worlds import ORDER_ID, DynamoLaneWorld, eventful, lanes_on_dynamodb, stored
from tests.contract.worlds.store_worlds import NOW, DynamoWorld, on_dynamodb, order_of, submitted

HERE = Path(__file__).parent
TASK = replace(FULL_TASK, plan_id=s.PLAN.plan_id, steps={"reserve": FULL_STEP, "charge": FULL_TASK.steps["charge"]})
LANE = replace(eventful(), revision=1, customer_id="acme")
ROWS = [stored(-2), stored(1), stored(2, "an operator skipped it")]


class Rows:
    """The tables of a deployment on moto: what the adapters write, and what was kept."""

    def __init__(self, world: DynamoWorld, lanes: DynamoLaneWorld) -> None:
        self.client, self.orders, self.rejects = world.client, world.orders, world.rejects(lambda: NOW)
        self.shared = shared_record_tables.created(world.client)
        tables = world.tables
        self.tables = {"orders": tables.orders, "tasks": tables.tasks, "rejects": tables.rejects}
        self.tables |= {"lanes": lanes.table, "shared records": self.shared}
        self.store: DynamoTaskStore = replace(world.store, new_id=lambda: "w-1", known_plans={})
        self.lanes: DynamoLanes = replace(lanes.lanes, new_id=lambda: "w-1")
        self.records: DynamoSharedRecords = replace(shared_record_tables.on(self.shared), new_id=lambda: "w-1")

    def write(self) -> dict[str, Any]:
        """Have this code write one of everything; the items."""
        task = submitted(self.store, "ord-full")
        self.store.submit(order_of("ord-1"), replace(task, order_id="ord-1", plan_id=s.PLAN.plan_id), s.PLAN)
        assert self.store.save(TASK, replaces=task)
        assert self.lanes.save(LANE, replaces=Lane(ORDER_ID), rows=ROWS)
        self.rejects.keep(s.REJECT)
        AuditLog(self.records).add("ord-1", s.AUDIT)
        for name, body in {
            "breaker/bank": s.BREAKER.body(),
            "lease/0": s.LEASE.to_body(),
            "pace/bank": Pace(NOW * 1_000).body(),
            "call/ord-1/pay": s.ROW.body(),
            "alerts": {"times": list(s.TIMES)},
            "ledger/shop|l-1": asdict(s.PROGRESS),
        }.items():
            assert self.records.write(SharedRecord(name, 1, body), replaces=None)
        return {
            name: sorted(self.client.scan(TableName=table)["Items"], key=str) for name, table in self.tables.items()
        }

    def put(self, kept: Mapping[str, list[dict[str, Any]]]) -> None:
        """Put kept items into the tables."""
        for name, items in kept.items():
            for item in items:
                self.client.put_item(TableName=self.tables[name], Item=item)


@pytest.fixture
def rows(request: pytest.FixtureRequest) -> Iterator[Rows]:
    with access_in("moto", request) as access:
        yield Rows(on_dynamodb(access or {}), lanes_on_dynamodb(access or {}))


def kept(name: str, now: Mapping[str, Any]) -> dict[str, Any]:
    """What was kept in the file of this name; with UPDATE, what this code writes `now` is kept in its stead."""
    path = HERE / f"{name}.json"
    if os.environ.get("UPDATE"):
        path.write_text("{\n" + ",\n".join(_lines(now)) + "\n}\n")
    found: dict[str, Any] = json.loads(path.read_text(), object_hook=_bytes)
    return found


def _lines(sections: Mapping[str, Any]) -> Iterator[str]:
    """A line for each record or message, so that a change shows as a line."""
    for name, each in sections.items():
        one = {key: _json(value) for key, value in each.items()} if isinstance(each, dict) else list(map(_json, each))
        rows = [f"{_json(key)}: {text}" for key, text in one.items()] if isinstance(one, dict) else one
        begin, end = "{}" if isinstance(one, dict) else "[]"
        yield f"{_json(name)}: {begin}\n" + ",\n".join(rows) + f"\n{end}"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=_text)


def _text(value: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(value).decode()}


def _bytes(value: dict[str, Any]) -> Any:
    return base64.b64decode(value["base64"]) if value.keys() == {"base64"} else value


def test_this_code_writes_records_in_the_kept_form(rows: Rows) -> None:
    written = rows.write()
    assert written == kept("records", written)


def test_this_code_writes_messages_in_the_kept_form() -> None:
    assert s.written() == kept("messages", s.written())


def test_kept_records_are_read(rows: Rows) -> None:
    rows.put(json.loads((HERE / "records.json").read_text(), object_hook=_bytes))

    loaded, records = rows.store.load("ord-full", with_order=False), rows.records
    assert loaded is not None
    assert (loaded.task, loaded.plan) == (TASK, s.PLAN)
    assert rows.lanes.load(ORDER_ID) == LANE
    assert [(row.position, row.skipped) for row in rows.lanes.rows(ORDER_ID, -2, 9)] == [
        (row.position, row.skipped) for row in ROWS
    ]
    assert rows.orders.find("ord-1") == order_of("ord-1")
    assert list(rows.rejects.newest(1)) == [s.REJECT]
    assert Breakers(records).of("bank") == s.BREAKER
    lease, pace, row = map(records.read, ("lease/0", "pace/bank", "call/ord-1/pay"))
    assert lease is not None
    assert pace is not None is not row
    assert CallRow.of(row.body) == s.ROW
    assert Pace.of(pace.body) == Pace(NOW * 1_000)
    assert lease_of(lease.body) == s.LEASE
    assert AuditLog(records).of("ord-1") == (s.AUDIT,)
    assert progress_of(records, "shop", "l-1") == s.PROGRESS
    assert not Throttled(MemoryAlerts(), records, lambda: NOW + 10).send(s.ALERTS["gap"])


def test_kept_messages_are_read() -> None:
    texts = {
        name: json.dumps(each) for name, each in json.loads((HERE / "messages.json").read_text())["messages"].items()
    }

    assert {name: decode_for_scheduler(texts[name]) for name in s.TO_SCHEDULER} == s.TO_SCHEDULER
    assert [decode_request(texts[name]) for name in ("request", "checked", "item")] == [s.REQUEST, s.CHECKED, s.ITEM]
    assert {name: decode_for_lane(texts[name]) for name in s.TO_LANES} == s.TO_LANES


@pytest.mark.parametrize(
    "sample", [s.BREAKER, s.LEASE, s.AUDIT, s.PROGRESS, s.REQUEST, s.PLAN, s.PLAN.steps[1], *s.POLICIES[:1]]
)
def test_the_samples_set_every_field(sample: Any) -> None:
    unset = {each.name for each in fields(sample) if getattr(sample, each.name) == each.default}
    assert unset <= {"agent", "at_once", "operation", "undo_agent", "undo", "extra"} | NEWER


NEWER = {"check", "callback", "delay", "answer_within", "answer", "kind", "when", "until", "by"}
NEWER |= {"child", "template", "is_child", "items", "parts"}
"""What only other kinds of step use; their own samples set it."""
