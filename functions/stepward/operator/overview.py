"""All that needs an operator in one list, the worst first, each with the command that looks closer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import islice

from stepward.domain.coordination.breaker import Breaker, Mode
from stepward.domain.errors import Corrupt, NotUnderstood, StepwardError
from stepward.domain.task.record import ProcessState
from stepward.operator.bulk import alike
from stepward.operator.connection import Connection
from stepward.operator.filters import Filter
from stepward.operator.lane_words import lane_state
from stepward.operator.rights.denials import advice
from stepward.operator.rows import Row, row_of_lane
from stepward.operator.search import LATEST, MOST_READ, search

MOST_LANES = 100
"""Lanes that are read of each of the two indexes that list them."""
MOST_REJECTS, REJECTED_WITHIN_MS = 100, 86_400_000
READERS = 12


class Rank(IntEnum):
    """How bad it is; the lowest first."""

    UNREADABLE = 0
    ALARM = 1
    UNDO_FAILED = 2
    ERROR = 3
    BLOCKED = 4
    STOPPED_AGENT = 5
    DEAD_LETTERS = 6
    GAP = 7
    WAITS = 8
    REJECTS = 9


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that needs an operator: `count` of `what`, since when (epoch ms; 0 if unknown), and why.

    `words` are the `stepward` command that looks closer; `more` if there may be more of it.
    """

    rank: Rank
    what: str
    count: int
    since: int
    reason: str
    words: tuple[str, ...]
    more: bool = False


@dataclass(frozen=True, slots=True)
class InFlight:
    """How many orders wait for something, `more` if only so many were counted."""

    count: int
    more: bool


def overview(connection: Connection) -> Sequence[Need]:
    """What needs somebody, the worst first; a part that cannot be read is a need of its own."""
    parts = (_orders, _lanes, _agents, _dead_letters, _rejects, _alarms)
    with ThreadPoolExecutor(len(parts)) as threads:
        found = [need for needs in threads.map(lambda part: _read(part, connection), parts) for need in needs]
    return sorted(found, key=lambda need: (need.rank, -need.count, need.since, need.what, need.reason))


def in_flight(connection: Connection, most: int = MOST_READ) -> InFlight:
    """How many orders the Supervisor has an eye on; raises Transient."""
    count = sum(1 for _ in islice(connection.searches.in_flight(0, LATEST), most + 1))
    return InFlight(min(count, most), count > most)


def _read(part: Callable[[Connection], Iterator[Need]], connection: Connection) -> list[Need]:
    what = part.__name__.strip("_").replace("_", " ")
    try:
        return list(part(connection))
    except StepwardError as error:
        why = " ".join(filter(None, [str(error), advice(error)]))
        return [Need(Rank.UNREADABLE, f"{what} cannot be read", 1, 0, why, ("verify",))]


def _orders(connection: Connection) -> Iterator[Need]:
    page = search(connection, Filter(), MOST_READ, only_waiting=True)
    for corrupt in page.corrupt:
        yield Need(Rank.UNREADABLE, "order that cannot be read", 1, 0, corrupt, ("list", "--needs-attention"))
    ranks = {ProcessState.UNDO_FAILED.value: Rank.UNDO_FAILED, ProcessState.ERROR.value: Rank.ERROR}
    for row, count in _grouped(page.rows):
        rank = ranks.get(row.state, Rank.WAITS)
        words = ("find", f"state={row.state}", f"step={row.step.split(', ')[0]}") if rank < Rank.WAITS else ()
        where = f"in {row.state}" if rank < Rank.WAITS else f"that wait{'s' * (count == 1)}"
        what = f"{row.workflow} order{_s(count)} {where}"
        yield Need(rank, what, count, row.since, row.reason, words or ("list", "--needs-attention"), page.more)


def _lanes(connection: Connection) -> Iterator[Need]:
    """Those that wait for an operator, and gaps that are too young for an alert."""
    lanes, corrupt = connection.lanes, list[str]()
    alerted = list(islice(dict.fromkeys(lanes.needing_attention()), MOST_LANES + 1))
    shards = connection.deployment.shards
    due = islice((key for shard in range(shards) for key in lanes.due(shard, LATEST)), MOST_LANES + 1)
    listed = list(dict.fromkeys([*alerted, *due]))
    with ThreadPoolExecutor(READERS) as threads:
        rows = list(filter(None, threads.map(lambda key: _lane(connection, key, corrupt), listed)))
    for text in corrupt:
        yield Need(Rank.UNREADABLE, "lane that cannot be read", 1, 0, text, ("convoy", "list"))
    for row, count in _grouped(rows):
        rank = Rank.BLOCKED if row.state == "blocked" else Rank.GAP
        words = ("convoy", "list") if count > 1 else ("convoy", "show", row.key)
        what = f"lane{_s(count)} {'with a gap' if row.state == 'gap' else row.state}"
        yield Need(rank, what, count, row.since, row.reason, words, len(listed) > MOST_LANES)


def _lane(connection: Connection, key: str, corrupt: list[str]) -> Row | None:
    try:
        lane = connection.lanes.load(key)
    except (Corrupt, NotUnderstood) as error:
        corrupt.append(str(error))
        return None
    if lane is None or (lane.needs_attention is None and lane_state(lane) not in {"blocked", "gap"}):
        return None
    return row_of_lane(lane, connection.deployment.keys.default)


def _agents(connection: Connection) -> Iterator[Need]:
    for agent in sorted(connection.deployment.agent_queue_urls):
        breaker = connection.breakers.of(agent)
        for defect in breaker.blame.defects:
            text = f"{defect.operation} raises {defect.text} at {defect.place}"
            orders = len(defect.orders)
            yield Need(Rank.STOPPED_AGENT, f"agent {agent} has a defect", orders, defect.since, text, ("agents",))
        if breaker.pause or breaker.mode is not Mode.CLOSED:
            yield _stopped(agent, breaker)


def _stopped(agent: str, breaker: Breaker) -> Need:
    if pause := breaker.pause:
        why = f"by {pause.who}: {pause.why}"
        return Need(Rank.STOPPED_AGENT, f"agent {agent} is paused", 1, pause.at, why, ("agents",))
    why = "its service fails and gets no calls for a while"
    return Need(Rank.STOPPED_AGENT, f"the breaker of {agent} is {breaker.mode}", 1, breaker.since, why, ("agents",))


def _dead_letters(connection: Connection) -> Iterator[Need]:
    from stepward.operator.dead_letters.queue import DeadLetterQueue  # noqa: PLC0415 - it imports the AWS SDK

    queues = connection.deployment.dead_letters
    with ThreadPoolExecutor(READERS) as threads:
        depths = threads.map(lambda urls: DeadLetterQueue(connection.sqs, urls.dead).depth(), queues.values())
        for name, depth in zip(queues, depths, strict=True):
            if depth:
                words = ("dead-letters", "show", name)
                yield Need(
                    Rank.DEAD_LETTERS, f"dead letter{_s(depth)} of {name}", depth, 0, "could not be processed", words
                )


def _rejects(connection: Connection) -> Iterator[Need]:
    newest = connection.rejects.newest(MOST_REJECTS)
    fresh = [each for each in newest if each.received_at >= connection.now() - REJECTED_WITHIN_MS]
    if fresh:
        why = f"the newest: {fresh[0].field}: {fresh[0].reason}"
        more = len(fresh) == MOST_REJECTS
        yield Need(
            Rank.REJECTS,
            f"reject{_s(len(fresh))} of the last day",
            len(fresh),
            fresh[-1].received_at,
            why,
            ("rejects",),
            more,
        )


def _alarms(connection: Connection) -> Iterator[Need]:
    """What CloudWatch says of queues, functions and tables, such as the age of a queue's oldest message."""
    for name, why, since in connection.alarms():
        yield Need(Rank.ALARM, f"alarm {name}", 1, since, why, ("verify",))


def _s(count: int) -> str:
    return "s" * (count != 1)


def _grouped(rows: Sequence[Row]) -> Iterator[tuple[Row, int]]:
    """The oldest of each workflow, state and reason, and how many are alike."""
    groups: dict[tuple[str, str, str], tuple[Row, int]] = {}
    for row in sorted(rows, key=lambda each: each.since):
        name = row.workflow, row.state, alike(row.reason)
        first, count = groups.get(name, (row, 0))
        groups[name] = (replace(first, reason=name[2]) if count else first), count + 1
    return iter(groups.values())
