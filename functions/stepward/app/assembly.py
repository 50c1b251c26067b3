"""The assembly: wires the use cases on any ports, and loads each use case when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from stepward.app.agent.call_rows import CallRows
    from stepward.app.agent.guard import Guard
    from stepward.app.agent.pacer import Pacer
    from stepward.app.agent.serve import Serve
    from stepward.app.alerting import Throttled
    from stepward.app.convoy.alerting import LaneAlerting
    from stepward.app.convoy.intake import LaneIntake
    from stepward.app.intake import Intake, Together
    from stepward.app.ledger.split import Split
    from stepward.app.scheduler.look import Look
    from stepward.app.scheduler.schedule import Schedule
    from stepward.app.scheduler.transition import Transition
    from stepward.app.submission import Submit
    from stepward.app.supervisor.supervise import Supervise
    from stepward.domain.convoy.lane import LaneRules
    from stepward.domain.coordination.breaker import Limits
    from stepward.domain.key import Keys
    from stepward.domain.messages.reply_queues import Allowed
    from stepward.domain.timing import Timing
    from stepward.domain.workflow.agents import Operation
    from stepward.domain.workflow.plan import Plan
    from stepward.ports import (
        Alerts,
        LaneQueue,
        Lanes,
        Ledgers,
        Notices,
        Queues,
        Rejects,
        SharedRecords,
        TaskStore,
        Telemetry,
    )
    from stepward.wire.order_event import Source

_ABSENT: Any = None


class Application(Protocol):
    """What the engine knows of an application; see `stepward.App`."""

    @property
    def schemas(self) -> Mapping[str, type[Any]]:
        """The classes of the order messages, by their type."""

    @property
    def event(self) -> type[Any] | None:
        """The class of the order events."""

    @property
    def sources(self) -> Sequence[Source]:
        """What turns the events of shops into ours."""

    @property
    def keys(self) -> Keys:
        """Makes the keys of the tasks."""

    def plans(self, complete_within: timedelta | None = None) -> Mapping[str, Plan]:
        """What is frozen with an order, by the type of its message."""

    def operations(self, agent: str) -> Mapping[str, Operation]:
        """The operations of an agent, by name."""

    def signals(self, key: str, /) -> Mapping[str, type[Any]]:
        """The classes of the signals that the task of this key may be given, by name."""


class Settings(Protocol):
    """The settings of a deployment; see `stepward.config` for the meaning of each."""

    @property
    def timing(self) -> Timing: ...  # noqa: D102
    @property
    def breaker(self) -> Limits: ...  # noqa: D102
    @property
    def lane_rules(self) -> LaneRules: ...  # noqa: D102
    @property
    def reply_queues(self) -> Allowed: ...  # noqa: D102
    @property
    def complete_within(self) -> timedelta | None: ...  # noqa: D102
    @property
    def swept_shards(self) -> int: ...  # noqa: D102
    @property
    def most_shards(self) -> int: ...  # noqa: D102
    @property
    def lease_length(self) -> int: ...  # noqa: D102
    @property
    def ledger_customer(self) -> str: ...  # noqa: D102
    @property
    def keep_error_texts(self) -> bool: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """Makes the use cases of one process; it needs only their ports.

    `now` is epoch milliseconds, `sleep` takes seconds, `jitter` gives a number from 0 to 1.
    """

    settings: Settings
    telemetry: Telemetry
    now: Callable[[], int]
    new_id: Callable[[], str]
    app: Application = _ABSENT
    store: TaskStore = _ABSENT
    queues: Queues = _ABSENT
    rejects: Rejects = _ABSENT
    shared_records: SharedRecords = _ABSENT
    alerts: Alerts = _ABSENT
    notices: Notices | None = None
    lanes: Lanes = _ABSENT
    lane_queue: LaneQueue = _ABSENT
    ledgers: Ledgers = _ABSENT
    sleep: Callable[[float], None] = _ABSENT
    jitter: Callable[[], float] = _ABSENT
    callback_keys: Callable[[], Sequence[bytes]] | None = None
    """Reads the keys of callback tokens, that to sign with first; None if no step is answered later."""

    def submission(self, instance: str = "") -> Submit:
        """Accepts orders of the application, and freezes a plan with each; with an `instance`, claims first steps."""
        from stepward.app.submission import Submit

        submit = Submit(
            store=self.store,
            queues=self.queues,
            telemetry=self.telemetry,
            schemas=self.app.schemas,
            keys=self.app.keys,
            plans=self.app.plans(self.settings.complete_within),
            timing=self.settings.timing,
            now=self.now,
            signals=self.app.signals,
            reply_queues=self.settings.reply_queues,
            sources=self.app.sources,
        )
        return replace(submit, begin=self.transition(instance).begin) if instance else submit

    def scheduler(self, instance: str) -> Schedule:
        """Runs the steps of every task in their order, and notifies submitters."""
        from stepward.app.optimistic import Patience
        from stepward.app.scheduler.audit_log import AuditLog
        from stepward.app.scheduler.schedule import Schedule

        look = cache(self._look)  # made when first needed: few workflows have a fallback
        transition = replace(self.transition(instance, notices=self.notices), look=lambda agents: look().at(agents))
        if self.callback_keys is not None:
            from stepward.app.scheduler.tokens import Tokens

            transition = replace(transition, tokens=Tokens(self.callback_keys, self.now))
        return Schedule(transition, AuditLog(self.shared_records), Patience(self.sleep, self.jitter))

    def _look(self) -> Look:
        from stepward.app.agent.breakers import Breakers
        from stepward.app.scheduler.look import Look

        return Look(Breakers(self.shared_records), self.queues, self.telemetry, self.now)

    def agent(self, name: str, guard: Guard | None = None) -> Serve:
        """Calls the operations of one agent; `guard` is that of its process, if it has one already."""
        from stepward.app.agent.serve import Serve

        return Serve(
            operations=self.app.operations(name),
            queues=self.queues,
            telemetry=self.telemetry,
            now=self.now,
            sleep=self.sleep,
            jitter=self.jitter,
            guard=guard or self.guard(name),
            keep_error_texts=self.settings.keep_error_texts,
            rows=cache(self._call_rows),
        )

    def _call_rows(self) -> CallRows:
        from stepward.app.agent.call_rows import CallRows

        return CallRows(self.shared_records, self.new_id, self.settings.timing.skew_margin)

    def supervisor(self, instance: str, agents: Collection[str]) -> Supervise:
        """Finds what is overdue, among tasks and, if there are any, lanes; `agents` are those of the deployment."""
        from stepward.app.agent.breakers import Breakers
        from stepward.app.supervisor.defect_sweep import DefectSweep
        from stepward.app.supervisor.lane_sweep import LaneSweep
        from stepward.app.supervisor.leases import Leases
        from stepward.app.supervisor.supervise import Supervise
        from stepward.app.supervisor.task_sweep import TaskSweep, Watch

        length, skew_margin = self.settings.lease_length, self.settings.timing.skew_margin
        transition = self.transition(instance)
        watch = Watch(Breakers(self.shared_records), agents, self.telemetry)
        defects, tasks = DefectSweep(watch, self.now), TaskSweep(transition, watch)
        lanes = [LaneSweep(self.alerting(), skew_margin, self.now)] if self.lanes is not None else []
        return Supervise(
            sweeps=[defects, tasks, *lanes],
            leases=Leases(self.shared_records, self.telemetry, instance, length, skew_margin, self.now),
            alerts=self._throttled(),
            shards=self.settings.swept_shards,
            most_shards=self.settings.most_shards,
        )

    def ledger(self) -> Split:
        """Splits ledgers into the lanes of their orders."""
        from stepward.app.ledger.split import Split

        return Split(
            lanes=self.lane_queue,
            ledgers=self.ledgers,
            shared_records=self.shared_records,
            rejects=self.rejects,
            telemetry=self.telemetry,
            sources=self.app.sources,
            keys=self.app.keys,
            now=self.now,
            customer=self.settings.ledger_customer,
        )

    def convoy(self, instance: str) -> LaneIntake:
        """Applies order events and commands, each order's in their sequence."""
        from stepward.app.convoy.convoy import Convoy
        from stepward.app.convoy.effects import Effects
        from stepward.app.convoy.intake import LaneIntake
        from stepward.app.scheduler.audit_log import AuditLog
        from stepward.wire.convoy import decode_for_lane
        from stepward.wire.order_event import EventMessage, stored_event

        schema, keys = self.app.event or EventMessage, self.app.keys
        convoy = Convoy(
            lanes=self.lanes,
            effects=Effects(self.submission(), self.transition(instance, claims=False)),
            rejects=self.rejects,
            alerting=self.alerting(),
            audit_log=AuditLog(self.shared_records),
            telemetry=self.telemetry,
            rules=self.settings.lane_rules,
            decode=partial(stored_event, schema=schema, keys=keys),
            now=self.now,
        )
        decode = partial(decode_for_lane, schema=schema, sources=self.app.sources, keys=keys)
        return LaneIntake(convoy, decode, self.rejects, self.telemetry, self.now)

    def intake(self, handle: Callable[[str], None], together: Together | None = None) -> Intake:
        """Hands messages to `handle`, or batches to `together`, and keeps what cannot be accepted as rejects."""
        from stepward.app.intake import Intake

        return Intake(handle, self.rejects, self.telemetry, self.now, together)

    def transition(self, instance: str, *, claims: bool = True, notices: Notices | None = None) -> Transition:
        """Writes a change of a task and sends what follows from it; see Transition."""
        from stepward.app.scheduler.transition import Transition

        return Transition(
            store=self.store,
            queues=self.queues,
            alerts=_ABSENT if self.alerts is None else self._throttled(),
            telemetry=self.telemetry,
            timing=self.settings.timing,
            instance=instance,
            now=self.now,
            notices=notices,
            claims=claims,
        )

    def guard(self, agent: str) -> Guard:
        """Guards the service of an agent, in one process."""
        from stepward.app.agent.breakers import Breakers
        from stepward.app.agent.guard import Guard

        breakers, pacer = Breakers(self.shared_records), self._pacer(agent)
        return Guard(agent, breakers, self.telemetry, self.settings.breaker, self.new_id, pacer)

    def _pacer(self, agent: str) -> Pacer | None:
        rate = max((each.agent.rate for each in self.app.operations(agent).values()), default=0.0)
        if not rate:
            return None
        from stepward.app.agent.pacer import Pacer

        return Pacer(agent, self.shared_records, rate, self.now)

    def alerting(self) -> LaneAlerting:
        """Alerts operators to lanes that wait for them."""
        from stepward.app.convoy.alerting import LaneAlerting

        return LaneAlerting(self.lanes, self._throttled(), self.telemetry, self.settings.lane_rules)

    def _throttled(self) -> Throttled:
        from stepward.app.alerting import Throttled

        return Throttled(self.alerts, self.shared_records, self.now)
