"""Alarms: each says what is wrong and what to do, and reaches the same people as the engine's own alerts."""

from __future__ import annotations

from typing import Any

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_sns as sns
from constructs import Construct

from stepward_cdk.settings.settings import (
    ERRORS_IN_FIVE_MINUTES,
    NOT_UNDERSTOOD_AGE_MS,
    OVERDUE_AGE_MS,
    UNCOUNTED_IN_FIVE_MINUTES,
)
from stepward_cdk.watching.watched import Watched, age, depth, function_sum

_ENGINE = {
    "Rejected": "Messages were rejected; see `stepward rejects` for field and reason",
    "Failed": "Orders are in Error; see `stepward list --needs-attention`",
    "Corrupt": "Records of the state store cannot be read; the Supervisor's log names them",
    "BreakerOpened": "An agent's service keeps failing and is not called for a while; see `stepward agents`",
    "Blocked": "Orders wait at an event that cannot be applied; see `stepward convoy list`",
    "Gaps": "Orders wait for an event that has not come; see `stepward convoy list`",
    "Overtime": "Orders take longer than all their steps may; the Supervisor's log names them",
}
_WAITING = {
    "order-events": "a hot order, or a convoy that cannot keep up? Past 120,000 waiting events SQS hides other orders",
    "ledgers": "a large ledger, or one that keeps failing? The customer's other ledgers wait behind it",
}
_ANY = 1


class Alarms(Construct):
    """One alarm for each thing that can go wrong with each part."""

    def __init__(self, scope: Construct, construct_id: str, *, watched: Watched, topic: sns.ITopic) -> None:
        super().__init__(scope, construct_id)
        self._action, self._deployment = actions.SnsAction(topic), watched.deployment
        for name, queue in watched.dead.items():
            self._when(f"{name}-dead", depth(queue), _ANY, f"Messages for {name} could not be processed")
        for name, work in watched.queues.items():
            oldest = watched.oldest_s[name]
            because = _WAITING.get("ledgers" if name.startswith("ledgers") else name, "does their function keep up?")
            self._when(f"{name}-age", age(work.queue), oldest, f"Messages for {name} wait over {oldest} s: {because}")
        self._watch_functions(watched)
        self._watch_supervisor(watched)
        for metric, description in _ENGINE.items():
            self._when(metric, watched.engine(metric), _ANY, description)
        overdue = f"Steps stay overdue for more than {OVERDUE_AGE_MS // 1000} s: is the Supervisor keeping up?"
        self._when("OverdueAge", watched.engine("OverdueAge", "Maximum"), OVERDUE_AGE_MS, overdue)
        newer = "Code has met what only newer code knows for minutes: the logs name it under NotUnderstood; deploy it"
        self._when("NotUnderstood", watched.engine("NotUnderstoodAge", "Maximum"), NOT_UNDERSTOOD_AGE_MS, newer)
        outage = "Many steps passed complete-by while no agent took requests: a platform outage, or too few functions"
        self._when("Uncounted", watched.engine("Uncounted"), UNCOUNTED_IN_FIVE_MINUTES, outage)

    def _watch_functions(self, watched: Watched) -> None:
        for name, function in watched.functions.items():
            errors = function_sum(function, "Errors")
            if name in watched.ledgers:  # they run so seldom that five errors would take half an hour
                died = f"{name} died in the middle of a ledger and will resume it; if it dies again, see its log"
                self._when(f"{name}-errors", errors, _ANY, died)
            else:
                self._when(f"{name}-errors", errors, ERRORS_IN_FIVE_MINUTES, f"{name} keeps failing; see its log", 2)
            throttles = function_sum(function, "Throttles")
            self._when(f"{name}-throttles", throttles, _ANY, f"{name} is throttled; raise the account's limit", 3)
            dropped = function_sum(function, "RecursiveInvocationsDropped")
            self._when(f"{name}-dropped", dropped, _ANY, f"Lambda took {name} for a runaway loop and dropped messages")

    def _watch_supervisor(self, watched: Watched) -> None:
        runs = watched.functions["supervisor"].metric("Invocations", statistic="Sum", period=watched.silence)
        silent = "The Supervisor does not run: nothing overdue is recovered; look at its schedule"
        self._unless("supervisor-silent", runs, silent)
        swept = watched.engine("Swept", period=watched.silence)
        self._unless(
            "Swept", swept, "The Supervisor runs but sweeps no shard: nothing overdue is recovered; see its log"
        )

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

    def _when(self, name: str, metric: cloudwatch.Metric, threshold: float, description: str, periods: int = 1) -> None:
        self._alarm(
            name,
            metric,
            description,
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
        )

    def _alarm(self, name: str, metric: cloudwatch.Metric, description: str, **condition: Any) -> None:
        stack = self._deployment.stack  # it has no "/", so no other stack can have an alarm of this name
        cloudwatch.Alarm(
            self,
            name,
            metric=metric,
            alarm_name=f"{stack}/{name}",
            alarm_description=f"{stack}: {self._deployment.addressed(description)}",
            **condition,
        ).add_alarm_action(self._action)
