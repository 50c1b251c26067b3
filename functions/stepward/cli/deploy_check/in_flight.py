"""The orders in flight, and which operations they still need: read before a deployment takes some away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from stepward.domain.coordination.shards import MOST_SHARDS
from stepward.domain.errors import StepwardError
from stepward.domain.task.lacking import needed

if TYPE_CHECKING:
    from stepward.adapters.dynamodb.task_store import DynamoTaskStore
    from stepward.ports import Lanes

Operations = frozenset[tuple[str, str]]
"""As (agent, operation)."""
ENDLESS = 10**15
PAGE = 100
MOST_READ = 100_000
"""Orders that one check reads, in 2,200 calls. Of more it says that there are more."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """How many orders in flight need which operations, by workflow and version.

    `more` says that there are more orders than were read, `unreadable` why this code cannot read one of them.
    """

    needs: Mapping[tuple[str, int, Operations], int]
    more: bool = False
    unreadable: str = ""

    def needing(self, operations: Operations) -> Mapping[tuple[str, int], tuple[int, Operations]]:
        """By workflow and version, how many orders need any of `operations`, and which of these they need."""
        found: dict[tuple[str, int], tuple[int, Operations]] = {}
        for (workflow, version, asked), count in sorted(self.needs.items(), key=lambda item: item[0][:2]):
            if both := asked & operations:
                orders, others = found.get((workflow, version), (0, frozenset()))
                found[workflow, version] = orders + count, others | both
        return found


def in_flight(store: DynamoTaskStore, lanes: Lanes, most: int = MOST_READ) -> InFlight:
    """Read up to `most` orders, page by page; raises Transient.

    They are those that an index lists, whatever the shard, and those whose lane one lists: events that wait there may
    still cancel an order that has ended.
    """
    cancellable = frozenset(islice(_listed(lanes), most))
    listed = dict.fromkeys(islice(chain(cancellable, _listed(store)), most + 1))
    ids, unreadable = iter(listed), ""
    needs: Counter[tuple[str, int, Operations]] = Counter()
    for page in iter(lambda: list(islice(ids, PAGE)), []):
        for found in store.load_many(page):
            if isinstance(found, StepwardError):
                unreadable = unreadable or str(found)
            else:
                task, plan = found
                asked = needed(task, plan, cancellable=task.order_id in cancellable)
                needs[plan.workflow, plan.version, asked] += 1
    return InFlight(needs, len(listed) > most, unreadable)


def _listed(records: DynamoTaskStore | Lanes) -> Iterator[str]:
    """What waits for the Supervisor or for an operator; a shard of any earlier deployment may hold some."""
    for shard in range(MOST_SHARDS):
        yield from records.due(shard, ENDLESS)
    yield from records.needing_attention()
