"""The parts of a deployment that dashboard and alarms watch, and their metrics.

CDK renders a metric with a label as an expression, so only graphs give labels, never alarms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs

from stepward.domain.deployment import Deployment
from stepward_cdk.queues import WorkQueue

FIVE_MINUTES = Duration.minutes(5)


@dataclass(frozen=True, slots=True)
class Watched:
    """Every part by its short name; `ledgers` are the names of the functions that split ledgers.

    `mappings` are the event source mappings of the engine's own functions, by queue: what an agent returns ends by its
    complete-by. `oldest_s` is how long a message of a queue may wait, in seconds; `silence` is how long nothing may be
    swept; `throttles` are of the tables that every order needs. Without `expressions` only single metrics are watched,
    since the local cloud knows no others. `full` watches each part by alarms of its own. The engine's own metrics name
    the deployment, `deployment`, so that no other one in the account adds to them.
    """

    queues: Mapping[str, WorkQueue]
    mappings: Mapping[str, str]
    oldest_s: Mapping[str, int]
    dead: Mapping[str, sqs.Queue]
    functions: Mapping[str, lambda_.Function]
    ledgers: Sequence[str]
    agents: Sequence[str]
    silence: Duration
    throttles: Mapping[str, cloudwatch.Metric]
    deployment: Deployment
    expressions: bool = True
    answered_later: bool = False
    full: bool = False

    def engine(
        self, name: str, statistic: str = "Sum", label: str | None = None, period: Duration = FIVE_MINUTES
    ) -> cloudwatch.Metric:
        """A metric that this deployment's functions count themselves."""
        return self._own(name, {}, statistic, label, period)

    def health(self, agent: str, name: str, statistic: str = "Sum", label: str | None = None) -> cloudwatch.Metric:
        """A metric that an agent's function counts for its agent alone."""
        return self._own(name, {"agent": agent}, statistic, label, FIVE_MINUTES)

    def _own(
        self, name: str, dimensions: Mapping[str, str], statistic: str, label: str | None, period: Duration
    ) -> cloudwatch.Metric:
        return cloudwatch.Metric(
            namespace="Stepward",
            metric_name=name,
            dimensions_map={"service": self.deployment.stack, **dimensions},
            statistic=statistic,
            period=period,
            label=label,
        )


def depth(queue: sqs.Queue, label: str | None = None) -> cloudwatch.Metric:
    """How many messages wait in a queue."""
    return queue.metric_approximate_number_of_messages_visible(statistic="Maximum", period=FIVE_MINUTES, label=label)


def age(queue: sqs.Queue, label: str | None = None) -> cloudwatch.Metric:
    """How long the oldest message of a queue has waited, in seconds."""
    return queue.metric_approximate_age_of_oldest_message(statistic="Maximum", period=FIVE_MINUTES, label=label)


def hidden(queue: sqs.Queue) -> cloudwatch.Metric:
    """How many messages of a queue are with a function, or wait hidden until they come again."""
    return queue.metric_approximate_number_of_messages_not_visible(statistic="Maximum", period=FIVE_MINUTES)


def returned(mapping: str) -> cloudwatch.Metric:
    """How many messages a function returned to its queue, or died with."""
    return lambda_metric("FailedInvokeEventCount", "Sum", {"EventSourceMappingUUID": mapping})


def lambda_metric(name: str, statistic: str, dimensions: Mapping[str, str] | None = None) -> cloudwatch.Metric:
    """One of Lambda's own metrics; without dimensions, of all functions of the account in this region."""
    return cloudwatch.Metric(
        namespace="AWS/Lambda",
        metric_name=name,
        dimensions_map=dimensions,
        statistic=statistic,
        period=FIVE_MINUTES,
    )


def function_sum(function: lambda_.Function, metric: str, label: str | None = None) -> cloudwatch.Metric:
    """The sum over five minutes of one of Lambda's own metrics of a function."""
    return function.metric(metric, statistic="Sum", period=FIVE_MINUTES, label=label)
