"""Which orders wait for an operator, by an index that may be behind."""

from collections.abc import Iterator
from dataclasses import dataclass

from stepward.cli.orders.attention import waiting_orders
from stepward.domain.errors import Corrupt
from stepward.domain.submission import Order
from stepward.domain.task.record import Loaded
from stepward.operator.rows import reasons
from stepward.testing.memory.task_store import MemoryTaskStore
from tests.unit.cli.lives import SUBMITTED, Life, failed, failed_twice, not_deployed, paused, recovered, undo_failed


@dataclass(slots=True)
class Behind(MemoryTaskStore):
    """Its index lists everything that ever needed attention, and a corrupt record."""

    def needing_attention(self) -> Iterator[str]:
        yield from ["mended", "gone", "broken", "failed"]

    def load(self, order_id: str, *, with_order: bool = True) -> Loaded | None:
        if order_id == "broken":
            raise Corrupt("broken: it lacks steps")
        return MemoryTaskStore.load(self, order_id, with_order=with_order)


def test_each_order_is_read_anew_before_it_is_listed() -> None:
    """The item decides, the index hints."""
    store = Behind(shard_of=lambda _: 0)
    mended, broken = Life("mended").start(0).answer("reserve", 1).answer("charge", 2), Life("failed").start(0)
    for life in (mended, broken.answer("reserve", 1_000, "sold out")):
        store.submit(Order(life.order_id, "{}", "hash"), life.task, life.plan)
    corrupt: list[str] = []

    found = list(waiting_orders(store, corrupt))

    assert [(each.order_id, each.since, each.document["reasons"]) for each in found] == [
        ("failed", SUBMITTED + 1_000, ["reserve: sold out"])
    ]
    assert corrupt == ["broken: it lacks steps"]


def test_every_reason_is_listed() -> None:
    assert list(reasons(failed_twice().task)) == ["reserve: sold out", "charge: declined"]
    assert list(reasons(failed().pause(9_000).task)) == ["charge: refused with card_declined", "paused by ada: asking"]
    assert list(reasons(undo_failed().task)) == ["charge/undo: account closed"]
    assert list(reasons(paused().task)) == ["paused by ada: asking"]
    assert list(reasons(recovered().task)) == []
    assert list(reasons(not_deployed().task)) == ["reserve: deploy it"]
