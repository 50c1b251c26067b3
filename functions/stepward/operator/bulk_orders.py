"""A command for many orders: the message for each, whether its agents are at work, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from stepward.app.scheduler.audit_log import AuditEntry, applied, named
from stepward.domain.coordination.breaker import Breaker, unavailable
from stepward.domain.errors import Unreadable
from stepward.domain.messages import OPERATORS, Cancel, Command, Pause, Resubmit, Resume, SignalGiven, Undo
from stepward.domain.staleness import dated_now, staleness
from stepward.domain.task.record import ENDED, IN_ERROR, ProcessState, Task
from stepward.domain.workflow.plan import Plan
from stepward.operator.asked import asked
from stepward.operator.bulk import Bulk, End, Ended, Prepared
from stepward.operator.connection import Connection
from stepward.operator.filters import Filter
from stepward.operator.rows import Row, reasons, row_of
from stepward.operator.search import matching

FRESH_MS = 1_000
"""How long a breaker that was read counts."""
_SIMPLE = {"undo": Undo, "cancel": Cancel, "pause": Pause, "resume": Resume}
_SETTLED = frozenset({*ENDED, *IN_ERROR})


@dataclass(frozen=True, slots=True)
class Orders:
    """The orders that match a filter, and a command for them."""

    connection: Connection
    bulk: Bulk
    _breakers: dict[str, tuple[int, Breaker]] = field(default_factory=dict)

    def rows(self, wish: Filter, corrupt: list[str]) -> Iterator[Row]:
        """Those that the indexes list; see Subjects."""
        yield from matching(self.connection, wish, corrupt)

    def prepared(self, rows: Sequence[Row]) -> Iterator[Prepared]:
        """The Scheduler's own decision, dry; see Subjects."""
        now, default = self.connection.now(), self.connection.deployment.keys.default
        for found in self.connection.searches.tasks([row.key for row in rows]):
            if isinstance(found, Unreadable):
                continue
            task, plan = found
            row = row_of(task, default)
            commands = [dated_now(each, task, now) for each in self._for(task)]
            refusals = (staleness(each, task, plan, now) for each in commands)
            refused = next((each.text for each in refusals if each), "" if commands else "no step is in Error")
            yield Prepared(row, commands, refused, "" if refused else self._held(task, plan, now))

    def send(self, ready: Sequence[Prepared]) -> None:
        """To the Scheduler's queue; see Subjects."""
        if commands := [command for each in ready for command in each.given]:
            self.connection.queues.to_scheduler(commands)

    def looked(self, sent: Sequence[Prepared], *, last: bool) -> Iterator[Ended]:
        """What the orders and, at last, their audit logs say; see Subjects."""
        given = {each.row.key: each.given for each in sent}
        for found in self.connection.searches.tasks(list(given)):
            if isinstance(found, Unreadable):
                continue
            task = found[0]
            if ended := self._ended(task, given[task.order_id], last=last):
                yield ended

    def _ended(self, task: Task, commands: Sequence[Command], *, last: bool) -> Ended | None:
        key, state = task.order_id, task.process_state
        if all(applied(each, task.history) for each in commands):
            is_over = last or state in _SETTLED or self.bulk.command == "pause"
            return Ended(key, End.APPLIED, "; ".join(reasons(task)), state) if is_over else None
        if not last:
            return None
        log = self.connection.audit_log.of(key)
        refused = next((entry.note for each in commands if (entry := _refusal(each, log))), "")
        return Ended(key, End.REFUSED if refused else End.ASKED, refused, state)

    def _for(self, task: Task) -> list[Command]:
        key, who, why = task.order_id, self.bulk.who, self.bulk.reason
        if self.bulk.command == "resubmit":
            failed = [each for each in task.steps.values() if each.process_state is ProcessState.ERROR]
            wanted = [each for each in failed if self.bulk.step in ("", each.name)]
            return [Resubmit(key, each.name, each.attempt, who, why) for each in wanted]
        if self.bulk.command == "signal":
            bulk = self.bulk
            return [SignalGiven(key, bulk.step, bulk.name, bulk.data, bulk.refused, who, OPERATORS)]
        return [_SIMPLE[self.bulk.command](key, who, why)]

    def _held(self, task: Task, plan: Plan, now: int) -> str:
        for agent in sorted(self._working(task, plan)):
            breaker = self._breaker(agent, now)
            if unavailable(breaker, now):
                return f"agent {agent} is paused" if breaker.pause else f"the breaker of {agent} is {breaker.mode}"
        return ""

    def _working(self, task: Task, plan: Plan) -> set[str]:
        """The agents that the command would have work at once, or soon."""
        records = [each for each in task.steps.values() if each.name in plan.by_name]
        if self.bulk.command == "resubmit":
            failed = (each for each in records if each.process_state is ProcessState.ERROR)
            return {plan.by_name[each.name].executor(each.policy).agent for each in failed} - {""}
        if self.bulk.command in {"undo", "cancel"}:
            begun = (each for each in records if each.attempt and not each.is_compensation)
            return {plan.by_name[each.name].executor(each.policy).undo_agent for each in begun} - {""}
        return set()

    def _breaker(self, agent: str, now: int) -> Breaker:
        read_at, breaker = self._breakers.get(agent, (0, Breaker()))
        if now - read_at < FRESH_MS:
            return breaker
        self._breakers[agent] = now, self.connection.breakers.of(agent)
        return self._breakers[agent][1]


def _refusal(command: Command, log: Sequence[AuditEntry]) -> AuditEntry | None:
    name, step, attempt = named(command)
    entry = asked(name, command, step, attempt).entry((), log)
    return entry if entry and not entry.applied else None
