"""Runs the demonstration: sends orders, acts as submitter and operator, until every order has ended."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic, sleep  # noqa: TID251 - a command on a person's machine may wait

from orders.demo.audit import is_stuck
from orders.demo.ledger_play import LedgerPlay
from orders.demo.live import Screen
from orders.demo.scenario import OUTAGE, SERVICES, Expected, Scenario, cancellation
from orders.demo.stage import Stage, heard
from stepward.domain.coordination.breaker import Mode
from stepward.domain.task.record import ProcessState, Task
from stepward.local.services import Services

Operator = Callable[[Mapping[str, Task], float], None]

REFRESH_S = 0.4
PATIENCE_S = 90.0
PATIENCE_PER_ORDER_S = 1.0


@dataclass(slots=True)
class Play:
    """A run of the scenario `acts` on `stage`, shown on `screen`.

    It sends the first messages at once, or steadily over `pace_s` seconds; all that follows may take `patience_s`.
    It calls `operator` with all tasks and the seconds since the start again and again, for actions of a caller.
    """

    acts: Scenario
    stage: Stage
    services: Services
    screen: Screen
    ledgers: LedgerPlay
    pace_s: float = 0.0
    patience_s: float = PATIENCE_S
    operator: Operator = lambda _tasks, _seconds: None
    began: float = field(default_factory=monotonic)
    first_sent: int = 0
    sent: set[str] = field(default_factory=set)
    breakers: dict[str, Mode] = field(default_factory=dict)

    def perform(self) -> None:
        """Send everything and watch until every order has ended, or the time is up."""
        orders = len(self.acts.orders) + len(self.ledgers.acts.orders)
        patience = self.pace_s + self.patience_s + PATIENCE_PER_ORDER_S * orders
        for fault in (fault for order in self.acts.orders for fault in order.faults):
            self.services.misbehave(fault)
        self.ledgers.begin(self._seconds)
        mine = {order.order_id for order in self.acts.orders}
        while self._seconds < patience:
            self._send_first(self.acts.first_messages)
            everyones = self.stage.tasks()
            tasks = {order_id: task for order_id, task in everyones.items() if order_id in mine}
            self._show_notices_and_breakers()
            all_lanes_ended = self.ledgers.look(self._seconds)
            self.screen.show(everyones, self.ledgers, self._seconds)
            self.operator(everyones, self._seconds)
            self._send_what_is_due(tasks)
            for order in self.acts.orders:
                if task := tasks.get(order.order_id):
                    self._act_on(order, task)
            if all_lanes_ended and self._is_over(tasks) and _have_ended(everyones):
                return
            sleep(REFRESH_S)

    @property
    def _seconds(self) -> float:
        return monotonic() - self.began

    def _show_notices_and_breakers(self) -> None:
        for text in self.stage.submitter.receive():
            self.screen.notice(heard(text), self._seconds)
        for agent in SERVICES:
            mode = self.stage.breakers.of(agent).mode
            if mode is not self.breakers.get(agent, Mode.CLOSED):
                self.screen.line(f"the breaker of agent {agent} is {mode}", self._seconds)
            self.breakers[agent] = mode
        if self.breakers[OUTAGE.service] is Mode.OPEN and self._once("repaired"):
            self.screen.line("the inventory service works again", self._seconds)
            self.services.behave(OUTAGE.service, OUTAGE.target)

    def _send_first(self, messages: Sequence[str]) -> None:
        """Send the first messages that are due by now."""
        due = len(messages) if self._seconds >= self.pace_s else int(len(messages) * self._seconds / self.pace_s)
        self.stage.send(messages[self.first_sent : due])
        self.first_sent = due

    def _send_what_is_due(self, tasks: Mapping[str, Task]) -> None:
        waiting = {ProcessState.PENDING, ProcessState.PROCESSING}
        passed = sum(task.steps["reserve"].process_state not in waiting for task in tasks.values())
        prompt = len(self.acts.orders) - len(self.acts.late_messages)
        if passed >= prompt and self._once("late") and self.acts.late_messages:
            self.screen.line("the inventory service goes down, and more orders arrive", self._seconds)
            self.services.misbehave(OUTAGE)
            self.stage.send(self.acts.late_messages)
        if len(tasks) == len(self.acts.orders) and self._once("repeated"):
            self.stage.send(self.acts.repeated_messages)

    def _act_on(self, order: Expected, task: Task) -> None:
        """Act once on this order as its submitter or an operator would."""
        at_work = task.steps["charge"].process_state is ProcessState.PROCESSING
        if order.kind.cancelled and at_work and self._once(order.order_id):
            self.screen.line(f"{order.order_id}  its submitter cancels it", self._seconds)
            self.stage.send([cancellation(order.order_id)])
        alerted = all(record.alert_by is None for record in task.steps.values())
        failed = task.process_state is ProcessState.UNDO_FAILED and alerted
        if order.kind.resubmitted and failed and self._once(order.order_id):
            words = ["resubmit", order.order_id, "--why", "the card was unblocked"]
            self.screen.line(f"an operator types: {shlex.join(['stepward', *words])}", self._seconds)
            self.stage.type_in(words)

    def _once(self, what: str) -> bool:
        fresh = what not in self.sent
        self.sent.add(what)
        return fresh

    def _is_over(self, tasks: Mapping[str, Task]) -> bool:
        """Whether nothing is left to happen: every order has ended, and every reject is stored."""
        if len(tasks) < len(self.acts.orders) or "repeated" not in self.sent:
            return False
        resubmitted = ((order, tasks[order.order_id]) for order in self.acts.orders if order.kind.resubmitted)
        as_wanted = all(task.process_state in {order.ends, ProcessState.ERROR} for order, task in resubmitted)
        all_rejected = len(self.acts.rejected) + self.ledgers.acts.rejected
        return as_wanted and len(self.stage.rejects.newest(all_rejected)) >= all_rejected


def _have_ended(tasks: Mapping[str, Task]) -> bool:
    return all(task.due is None and not is_stuck(task) for task in tasks.values())
