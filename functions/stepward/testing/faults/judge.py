"""The invariants, each checked the moment it can break; `verdict` checks those of quiet time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from stepward.domain.history import HistoryKind
from stepward.domain.messages import Alert, Notice, Outcome, Reply, StepRequest, ToScheduler
from stepward.domain.task.record import ProcessState, StepRecord, Task
from stepward.domain.timing import Timing
from stepward.domain.workflow.agents import Agent, Call
from stepward.domain.workflow.effects import Item
from stepward.domain.workflow.plan import UNDO_SUFFIX, Plan, forward_name
from stepward.testing.faults import audit
from stepward.testing.faults.audit import BURIED, STALE_FENCE
from stepward.testing.faults.broken import Broken
from stepward.testing.faults.diary import Diary
from stepward.testing.faults.gate import Gate
from stepward.testing.faults.ledger import Effect, Ledger
from stepward.testing.faults.rates import Rates
from stepward.testing.faults.record import Write
from stepward.testing.faults.waits import crowded, held_up, left_out, outlived, skipped
from stepward.testing.memory.task_store import MemoryTaskStore

PROCESSED, ERROR, UNDONE = ProcessState.PROCESSED, ProcessState.ERROR, ProcessState.UNDONE


@dataclass(slots=True, repr=False)
class Judge:
    """Watches a world; raises Broken. `clock` gives the time of an instance, `logged` holds the history entries.

    `uncounted` says that agents had a backlog or a breaker by now. `freed` are the attempts that a Supervisor ended,
    `refused` the idempotency keys of what services refused; without it, operations refuse on their own.
    """

    gate: Gate
    tasks: MemoryTaskStore
    ledger: Ledger
    clock: Callable[[str], int]
    logged: set[tuple[str, HistoryKind, str, int]]
    timing: Timing
    uncounted: bool = False
    refused: set[str] | None = None
    freed: set[tuple[str, str, int]] = field(default_factory=set)
    claims: dict[str, ToScheduler | None] = field(default_factory=dict)
    requested: set[str] = field(default_factory=set)
    reached: dict[tuple[str, int], Task] = field(default_factory=dict)
    highest: Counter[str] = field(default_factory=Counter)
    notices: dict[Notice, None] = field(default_factory=dict)
    alerts: set[str] = field(default_factory=set)
    reported: dict[Effect, int] = field(default_factory=dict)
    rates: Rates = field(default_factory=Rates)

    @property
    def diary(self) -> Diary:
        """Where the world's figures are."""
        return self.gate.diary

    def plan(self, task: Task) -> Plan:
        """The plan that is frozen with the task."""
        return self.tasks.plans[task.plan_id]

    def written(self, write: Write) -> None:
        """I2, I3, I4, I5, I9: one change of a task."""
        self.diary.counts["writes"] += 1
        self.gate.here.wrote.append(write)
        task, plan = write.after, self.plan(write.after)
        self.reached[task.order_id, task.revision] = task
        for record in task.steps.values():
            self.claims.setdefault(record.token or "", write.cause)
        if self.diary.is_kept:
            self.diary.note(task.order_id, f"revision {task.revision} by {self.gate.here.instance}: {_changes(write)}")
        self._check("I2", task.order_id, audit.held_wrongly(plan, write))
        self._check("I3", task.order_id, audit.claimed_out_of_turn(plan, write))
        self._check("I4", task.order_id, self._without_effect(write, plan))
        self._check("I5", task.order_id, audit.counted_wrongly(plan, write, self.timing, trouble=self.uncounted))
        self._check("I9", task.order_id, audit.listed_late(plan, task, self.timing))
        self._check("S12", task.order_id, self._freed_early(write))
        self._check("I6", task.order_id, write.past_return(plan))
        self._check("W5", task.order_id, crowded(task, plan))
        self._check("I13", task.order_id, outlived(task, plan, self.tasks.tasks))
        self._check("I10", task.order_id, self._blamed(write, plan))
        self.freed |= {(task.order_id, *ended) for ended in audit.freed(write)}

    def asked(self, request: StepRequest) -> None:
        """I2: an agent is asked, so the claim must have been written."""
        if request.token not in self.claims:
            raise Broken("I2", request.order_id, f"{request.step} was asked for before its claim was written")

    def sent(self, request: StepRequest) -> None:
        """An agent's queue has taken a request."""
        self.requested.add(request.token)

    def replied(self, reply: Reply) -> None:
        """S6: an agent answers, though not past the deadline of its call."""
        here, now = self.gate.here, self.gate.loop.now
        held_up = now - (now if here.called_at is None else here.called_at)
        if here.deadline is not None and self.clock(here.instance) - held_up >= here.deadline:
            raise Broken("S6", reply.order_id, f"{reply.step} was answered past its complete-by")

    def called(self, order_id: str, effect: str, call: Call, agent: Agent) -> None:
        """I3, I4, I6, I14: a service is called, in its turn, at its agent's rate, and under a key that it knows."""
        task = self.tasks.tasks[order_id]
        plan = self.plan(task)
        if not self.gate.profile.skewed:
            exceeded = self.rates.exceeded(agent.name, agent.rate, self.clock(self.gate.here.instance))
            self._check("I14", order_id, exceeded)
        if not effect:
            return
        if call.remaining() <= 0 and not self.gate.here.waited:
            raise Broken("S6", order_id, f"{effect} was called past its complete-by")
        if (order_id, audit.record_of(effect), call.attempt) in self.freed and not self._may_be_late():
            raise Broken("I2", order_id, f"{effect} was called though attempt {call.attempt} had been ended")
        self.gate.here.deadline = self.clock(self.gate.here.instance) + round(call.remaining() * 1000)
        step = plan.by_name.get(forward_name(effect))
        if step is None or effect.removesuffix(UNDO_SUFFIX) not in {each.effect for each in step.executors}:
            raise Broken("I4", order_id, f"{call.idempotency_key} is no key of the order")
        if effect.endswith(UNDO_SUFFIX):
            self._check("I6", order_id, self._undone_early(task, plan, effect))
            return
        happened = {forward_name(name) for name in self.ledger.of.get(order_id, ())}
        expected = {name for name in step.after if not skipped(task, name)}
        happened |= {step.name for step in plan.steps if not step.agent}
        read = {it for it in happened if (Item.read(it).part or it) in call.results or left_out(task, it)}
        if missing := expected - read:
            raise Broken("I3", order_id, f"{effect} was called before {missing} was done")

    def heard(self, notice: Notice) -> None:
        """I8: a notice says what was reached, and older things first unless its sender was held up."""
        self.diary.note(notice.order_id, f"the submitter hears: {notice.status} {notice.step} {notice.revision}")
        task = self.reached.get((notice.order_id, notice.revision))
        if not audit.is_true(notice, task):
            raise Broken("I8", notice.order_id, f"{notice} was never so")
        if notice in self.notices:
            return
        self.notices[notice] = None
        if notice.revision < self.highest[notice.order_id] and not self.gate.here.waited:
            raise Broken("I8", notice.order_id, f"{notice} came after {self.highest[notice.order_id]}")
        self.highest[notice.order_id] = max(notice.revision, self.highest[notice.order_id])

    def alerted(self, alert: Alert) -> None:
        """An operator is alerted."""
        self.diary.counts["alerts"] += 1
        self.diary.note(alert.order_id, f"an operator is alerted to {alert.alert_id}: {alert.reason}")
        self.alerts.add(alert.alert_id)

    def handled(self, reply: Reply) -> None:
        """The Scheduler has handled a reply: from here on it knows of the effect, fenced or not."""
        record = self.tasks.tasks[reply.order_id].steps[reply.step]
        if record.process_state is ProcessState.STOPPED and reply.outcome is Outcome.OK:
            effect = self._effect(record)
            if record.attempt == reply.attempt and effect in self.ledger.remaining:
                self.reported.setdefault(effect, self.gate.loop.now)

    def ended_well(self) -> None:
        """An invocation has logged and sent what follows from its writes, unless somebody has written since."""
        for write in self.gate.here.wrote:
            task = write.after
            if write.cause is self.gate.here.cause and self.tasks.tasks[task.order_id].revision == task.revision:
                self._check("S", task.order_id, self._unlogged(write))
        if self.gate.here.cause is not None:
            self._check("S16", self.gate.here.about, self._unasked(self.gate.here.cause))

    def verdict(self) -> None:
        """I1, I6, I8 at quiet time, when nothing is on its way and nothing waits."""
        for order_id, task in self.tasks.tasks.items():
            self._check("I1", order_id, self._not_ended(task))
            self._check("I6", order_id, self._wrongly_remaining(task))
            self._check("I8", order_id, self._not_notified(task))

    def _may_be_late(self) -> bool:
        """Whether the present instance was held up after it read its clock, or has a clock that is wrong."""
        return self.gate.here.waited or self.gate.profile.skewed

    def _unlogged(self, write: Write) -> Iterator[str]:
        for before, after in audit.changes(write):
            kinds = {ProcessState.PROCESSING: HistoryKind.CLAIMED, PROCESSED: HistoryKind.COMPLETED}
            kind = kinds.get(after.process_state)
            is_new = (before.process_state, before.attempt) != (after.process_state, after.attempt)
            if kind and is_new and (after.order_id, kind, after.name, after.attempt) not in self.logged:
                yield f"{kind} {after.name} {after.attempt} was written and never logged"

    def _unasked(self, cause: ToScheduler) -> Iterator[str]:
        """Claims of a handled message, perhaps by an earlier delivery, whose requests were not sent in time."""
        now, task = self.clock(self.gate.here.instance), self.tasks.tasks.get(cause.order_id)
        for record in task.steps.values() if task else ():
            runs = record.process_state is ProcessState.PROCESSING and now < (record.complete_by or 0)
            asks = task and runs and self.plan(task).by_name[record.name].agent and record.token not in self.requested
            claimed = self.claims[record.token or ""] if asks else None
            # A batch may hold the same message twice, and the other one may have made the claim: it asks in its turn.
            asked = claimed is cause or all(each.cause is not claimed for each in self.gate.here.wrote)
            if claimed == cause and asked:
                yield f"{record.name} was claimed by {cause}, which is handled, and no agent was asked"

    def _freed_early(self, write: Write) -> Iterator[str]:
        if write.cause is not None:
            return
        now = self.clock(self.gate.here.instance)
        for before, after in audit.changes(write):
            ran = before.runs and not after.runs and not after.items  # the items of an each go on
            if ran and after.process_state is not ProcessState.STOPPED and (before.complete_by or 0) > now:
                yield f"{after.name} was freed before its complete-by"

    def _blamed(self, write: Write, plan: Plan) -> Iterator[str]:
        """What a deployment did to an order: an Error or an undo that no service asked for, or, in quiet, a failure."""
        if self.refused is None:
            return
        early = any(before.early and before.attempt < after.attempt for before, after in audit.changes(write))
        begun = write.after.undoing and not write.before.undoing and not early
        in_time = write.after.time_limit is write.before.time_limit
        for before, after in (pair for pair in audit.changes(write) if plan.by_name[pair[1].name].agent):
            ended = after.process_state is ERROR is not before.process_state
            if isinstance(write.cause, Reply) and (ended or (begun and after.name == write.cause.step)):
                if f"{after.order_id}/{plan.by_name[after.name].executor(after.policy).effect}" not in self.refused:
                    yield f"{after.name} ended in {after.process_state}, and no service refused it: {after.error}"
                continue
            counted = after.failure_count > before.failure_count
            if self.gate.profile.quiet and ((ended and in_time) or counted):
                yield f"nothing goes wrong, and {before} became {after}"

    def _without_effect(self, write: Write, plan: Plan) -> Iterator[str]:
        for before, after in audit.changes(write):
            if after.error == STALE_FENCE:
                yield f"{after.name} was refused by its own fence"
            if after.error == BURIED:
                yield f"{after.name} is asked for though it was undone"
            if after.process_state is PROCESSED is not before.process_state and plan.by_name[after.name].agent:
                effect = plan.by_name[after.name].executor(after.policy).effect
                slot = after.order_id, effect.removesuffix(UNDO_SUFFIX)
                unneeded = plan.by_name[after.name].check and slot not in self.ledger.remaining
                if slot not in (self.ledger.buried if after.is_compensation else self.ledger.done) and not unneeded:
                    yield f"{after.name} is Processed without its effect"

    def _undone_early(self, task: Task, plan: Plan, effect: str) -> Iterator[str]:
        remaining = self.ledger.remaining_of(task.order_id) if task.undoing and self.gate.profile.honest else ()
        undoable = (name for name in remaining if name + UNDO_SUFFIX in plan.by_name)
        if later := {name for name in undoable if plan.undone_after(effect, name)}:
            yield f"{effect} came before the undo of {later}"

    def _not_ended(self, task: Task) -> Iterator[str]:
        waits = held_up(task, self.tasks.tasks)
        if task.process_state not in (PROCESSED, UNDONE) and task.needs_attention is None and not waits:
            yield f"stuck in {task.process_state}"
        if task.due is not None and not waits:
            yield "still due"
        for record in task.steps.values():
            if record.process_state is ERROR and f"{task.order_id}/{record.name}/{record.attempt}" not in self.alerts:
                yield f"nobody was alerted to the Error of {record.name}"

    def _wrongly_remaining(self, task: Task) -> Iterator[str]:
        remaining, plan = self.ledger.remaining_of(task.order_id), self.plan(task)
        meant: set[str] = set()
        if task.process_state is PROCESSED:
            meant = {
                plan.by_name[name].executor(record.policy).effect
                for name, record in task.steps.items()
                if plan.by_name[name].agent and not record.is_compensation and not skipped(task, name)
            }
        elif task.process_state is not UNDONE:
            return
        if missing := meant - remaining:
            yield f"the order is Processed without {missing}"
        undoable = {who.effect for name in task.steps for who in plan.by_name[name].executors if who.undo}
        for name in (remaining - meant) & undoable:
            effect = (task.order_id, name)
            known = effect in self.reported and self.ledger.remaining[effect] <= self.reported[effect]
            if self.gate.profile.honest or known:
                yield f"the order is {task.process_state} and {name} remains"
            self.diary.counts["late effects that nobody could know of"] += 1
        twice = [effect for effect, times in self.ledger.undone.items() if effect[0] == task.order_id and times > 1]
        if twice and self.gate.profile.honest:
            yield f"{twice} were undone more than once"

    def _not_notified(self, task: Task) -> Iterator[str]:
        notified = {notice.status for notice in self.notices if notice.order_id == task.order_id}
        ended = {PROCESSED: "completed", UNDONE: "undone"}.get(task.process_state)
        if task.reply_to and ended and ended not in notified:
            yield f"{ended} and the submitter was not notified"

    def _effect(self, record: StepRecord) -> Effect:
        plan = self.plan(self.tasks.tasks[record.order_id])
        return record.order_id, plan.by_name[record.name].executor(record.policy).effect

    def _check(self, invariant: str, order_id: str, faults: Iterator[str]) -> None:
        for fault in faults:
            raise Broken(invariant, order_id, fault)


def _changes(write: Write) -> str:
    changed = (
        f"{after.name} {before.process_state}/{before.attempt} -> {after.process_state}/{after.attempt}"
        for before, after in audit.changes(write)
        if (before.process_state, before.attempt) != (after.process_state, after.attempt)
    )
    return ", ".join(changed) or "details"
