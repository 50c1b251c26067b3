"""Alarms: each says what is wrong and what to do, and that it is over; docs/watching.md lists all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from constructs import Construct

from stepward.domain.attention import (
    ENOUGH,
    FIFO_IN_FLIGHT,
    NOT_UNDERSTOOD_AGE_MS,
    OVERDUE_AGE_MS,
    UNCOUNTED_IN_FIVE_MINUTES,
)
from stepward.domain.history import TELLS, HistoryKind
from stepward_cdk.settings.settings import (
    CONCURRENCY_PERCENT,
    ERRORS_IN_FIVE_MINUTES,
    RETURNED_PERIODS,
)
from stepward_cdk.watching.alerts import Alerts
from stepward_cdk.watching.watched import Watched, age, depth, function_sum, hidden, lambda_metric, returned

_ENGINE = {
    "Rejected": "Messages were rejected; see `stepward rejects` for field and reason",
    "Failed": "Orders are in Error; see `stepward list --needs-attention`",
    "Corrupt": "Records of the state store cannot be read; the Supervisor's log names them",
    "BreakerOpened": "An agent's service keeps failing and is not called for a while; see `stepward agents`",
    "Blocked": "Orders wait at an event that cannot be applied; see `stepward convoy list`",
    "Gaps": "Orders wait for an event that has not come; see `stepward convoy list`",
    "Overtime": "Orders take longer than all their steps may; the Supervisor's log names them",
}
_FORGED = (
    "Services' answers came with tokens that no key made, and were dropped: does somebody guess, or was the key "
    "rotated twice while services still had to answer? See docs/operations.md"
)
_WAITING = {
    "order-events": "a hot order, or a convoy that cannot keep up? Past 120,000 waiting events SQS hides other orders",
    "ledgers": "a large ledger, or one that keeps failing? The customer's other ledgers wait behind it",
}
_DEAD = "Messages could not be processed; see `stepward dead-letters list`, and the Supervisor's log for whose they are"
_LEAN = {
    "Tells": "Orders, messages or agents' services are in trouble; see `stepward list --needs-attention`, `stepward "
    "convoy list`, `stepward rejects`, `stepward agents`, and the dashboard for what it is",
    "Wakes": "Work is held up; see the dashboard for what it is: steps that stay overdue or that no agent takes, "
    "records or messages that cannot be read, messages that keep coming back, a queue that is almost full",
}
_TELLS = {kind.metric for kind in HistoryKind if TELLS in kind.marks} | {"Tells"}
"""These concern single orders or messages, or end by themselves: they tell somebody, and all others wake somebody."""
_ANY = 1
_MOST_METRICS = 10


class Alarms(Construct):
    """In full, one alarm for each thing that can go wrong with each part; else one for each that nothing else shows."""

    def __init__(self, scope: Construct, construct_id: str, *, watched: Watched, alerts: Alerts) -> None:
        super().__init__(scope, construct_id)
        self._wakes, self._tells = actions.SnsAction(alerts.pages), actions.SnsAction(alerts.topic)
        self._deployment, self._expressions = watched.deployment, watched.expressions
        self.all: list[cloudwatch.Alarm] = []
        self._watch_ages(watched)
        self._watch_sweeps_and_alerts(watched, alerts)
        if watched.full:
            self._watch_dead_letters(watched)
            self._watch_queues(watched)
            self._watch_functions(watched)
            self._watch_account(watched)
            self._watch_engine(watched)
        else:
            self._watch_lean(watched)

    def _watch_dead_letters(self, watched: Watched) -> None:
        """Agents share alarms, each of as many as one can add up: hardly anything ends in their dead letters."""
        of_agents = [name for name in watched.queues if name.startswith("agent-")]
        self._watch_dead(watched, [name for name in watched.queues if name not in of_agents])
        for first in range(0, len(of_agents), _MOST_METRICS):
            some = of_agents[first : first + _MOST_METRICS]
            which = f"Messages for one of {', '.join(some)} could not be processed; see `stepward dead-letters list`"
            number = f"-{first // _MOST_METRICS + 1}" if first else ""
            self._when(f"agents-dead{number}", _sum([depth(watched.dead[name]) for name in some]), _ANY, which)

    def _watch_dead(self, watched: Watched, names: Iterable[str]) -> None:
        for name in names:
            self._when(f"{name}-dead", depth(watched.dead[name]), _ANY, f"Messages for {name} could not be processed")

    def _watch_ages(self, watched: Watched) -> None:
        for name, work in watched.queues.items():
            oldest = watched.oldest_s[name]
            because = _WAITING.get("ledgers" if name.startswith("ledgers") else name, "does their function keep up?")
            self._when(f"{name}-age", age(work.queue), oldest, f"Messages for {name} wait over {oldest} s: {because}")

    def _watch_queues(self, watched: Watched) -> None:
        for name, mapping in watched.mappings.items():
            keep = f"Messages of {name} keep coming back for half an hour; the log of their function says why"
            self._when(f"{name}-returned", returned(mapping), _ANY, keep, RETURNED_PERIODS, tells=True)
        full = f"Over {FIFO_IN_FLIGHT} order events are hidden; at 120,000 SQS gives out no more: what keeps failing?"
        events = hidden(watched.queues["order-events"].queue)
        self._when("order-events-in-flight", events, FIFO_IN_FLIGHT, full)

    def _watch_functions(self, watched: Watched) -> None:
        for name, function in watched.functions.items():
            errors = function_sum(function, "Errors")
            if name in watched.ledgers:  # they run so seldom that five errors would take half an hour
                died = f"{name} died in the middle of a ledger and will resume it; if it dies again, see its log"
                self._when(f"{name}-errors", errors, _ANY, died)
            else:
                self._watch_errors(name, errors)
        for name in ("convoy", *watched.ledgers):  # the others may loop, or take no messages
            dropped = function_sum(watched.functions[name], "RecursiveInvocationsDropped")
            self._when(f"{name}-dropped", dropped, _ANY, f"Lambda took {name} for a runaway loop and dropped messages")

    def _watch_errors(self, name: str, errors: cloudwatch.IMetric) -> None:
        self._when(f"{name}-errors", errors, ERRORS_IN_FIVE_MINUTES, f"{name} keeps failing; see its log", 2)

    def _watch_account(self, watched: Watched) -> None:
        """What functions and tables get from the account; no function has concurrency of its own."""
        limit = "; raise the account's limit, or lower engine_concurrency"
        throttles = lambda_metric("Throttles", "Sum")
        self._when("throttled", throttles, _ANY, f"Functions of this account are throttled{limit}", 3)
        running = {"running": lambda_metric("ConcurrentExecutions", "Maximum")}
        used = _math("100 * running / SERVICE_QUOTA(running)", running)
        self._when("concurrency", used, CONCURRENCY_PERCENT, f"{CONCURRENCY_PERCENT}% of all functions run{limit}", 2)
        slow = "DynamoDB throttles the tables, and messages come back; is one order, or one shard, too busy?"
        self._when("tables-throttled", _sum([*watched.throttles.values()]), _ANY, slow, 2)

    def _watch_sweeps_and_alerts(self, watched: Watched, alerts: Alerts) -> None:
        """What is to see all else, and what is to say it."""
        silent = "No shard is swept, so nothing overdue is recovered; look at the Supervisor's schedule and its log"
        self._unless("Swept", watched.engine("Swept", period=watched.silence), silent)
        lost = _sum([topic.metric_number_of_notifications_failed(statistic="Sum") for topic in alerts.topics])
        self._when("alerts-lost", lost, _ANY, "Alerts or alarms could not be delivered; check the subscriptions")

    def _watch_lean(self, watched: Watched) -> None:
        """What the functions cannot say of themselves, and what they do say in two metrics."""
        for name, function in watched.functions.items():
            if name.startswith("agent-"):
                self._watch_errors(name, function_sum(function, "Errors"))
        self._watch_dead(watched, [name for name in watched.queues if name.startswith("ledgers-")])
        self._when("DeadLetters", watched.engine("DeadLetters", period=watched.silence), _ANY, _DEAD)
        for name, description in _LEAN.items():
            self._when(name, watched.engine(name), ENOUGH, description, tells=name in _TELLS)

    def _watch_engine(self, watched: Watched) -> None:
        for metric, description in _ENGINE.items():
            self._when(metric, watched.engine(metric), _ANY, description, tells=metric in _TELLS)
        overdue = f"Steps stay overdue for more than {OVERDUE_AGE_MS // 1000} s: is the Supervisor keeping up?"
        self._when("OverdueAge", watched.engine("OverdueAge", "Maximum"), OVERDUE_AGE_MS, overdue)
        newer = "Code has met what only newer code knows for minutes: the logs name it under NotUnderstood; deploy it"
        self._when("NotUnderstood", watched.engine("NotUnderstoodAge", "Maximum"), NOT_UNDERSTOOD_AGE_MS, newer)
        if watched.answered_later:
            self._when("Forged", watched.engine("Forged"), _ANY, _FORGED, tells=True)
        outage = "Many steps passed complete-by while no agent took requests: a platform outage, or too few functions"
        self._when("Uncounted", watched.engine("Uncounted"), UNCOUNTED_IN_FIVE_MINUTES, outage)

    def _unless(self, name: str, metric: cloudwatch.Metric, description: str) -> None:
        self._alarm(
            name,
            metric,
            description,
            threshold=_ANY,
            evaluation_periods=1,
            comparison_operator=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.BREACHING,
        )

    def _when(
        self,
        name: str,
        metric: cloudwatch.IMetric,
        threshold: float,
        description: str,
        periods: int = 1,
        *,
        tells: bool = False,
    ) -> None:
        self._alarm(
            name,
            metric,
            description,
            tells=tells,
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )

    def _alarm(
        self, name: str, metric: cloudwatch.IMetric, description: str, *, tells: bool = False, **condition: Any
    ) -> None:
        if isinstance(metric, cloudwatch.MathExpression) and not self._expressions:
            return
        stack = self._deployment.stack  # it has no "/", so no other stack can have an alarm of this name
        alarm = cloudwatch.Alarm(
            self,
            name,
            metric=metric,
            alarm_name=f"{stack}/{name}",
            alarm_description=f"{stack}: {self._deployment.addressed(description)}",
            **condition,
        )
        action = self._tells if tells else self._wakes
        alarm.add_alarm_action(action)
        alarm.add_ok_action(action)
        self.all.append(alarm)


def _sum(metrics: Sequence[cloudwatch.Metric]) -> cloudwatch.MathExpression:
    """All of them together: AWS reports them only where there is something to report."""
    named = {f"m{number}": metric for number, metric in enumerate(metrics)}
    return _math(" + ".join(f"FILL({name}, 0)" for name in named), named)


def _math(expression: str, metrics: Mapping[str, cloudwatch.IMetric]) -> cloudwatch.MathExpression:
    return cloudwatch.MathExpression(expression=expression, using_metrics=metrics, period=Duration.minutes(5))
