"""The dashboard of a deployment, derived from its workflows."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from stepward.domain.workflow.drawing import as_markdown, title
from stepward.domain.workflow.plan import Plan
from stepward_cdk.watching.watched import Watched, age, depth, function_sum

_WIDTH = 12
_PERCENTILES = ("p50", "p99")
_ORDERS = ("Submitted", "Processed", "Failed", "Duplicates", "Conflicts")
_FOR_PEOPLE = ("Alerted", "Rejected", "Corrupt", "Ignored")
_CONVOY = ("Ledgers", "Applied", "Parked", "Ended")
_LANES_IN_TROUBLE = ("Blocked", "Gaps", "Idle", "Skipped")


class Dashboard(Construct):
    """Shows orders on top, then queues, agents and functions."""

    def __init__(self, scope: Construct, construct_id: str, *, plans: Sequence[Plan], watched: Watched) -> None:
        super().__init__(scope, construct_id)
        stack = watched.deployment.stack
        # An account has one list of dashboards for all of its regions.
        board = cloudwatch.Dashboard(self, "Dashboard", dashboard_name=f"{stack}-{Stack.of(self).region}")
        for plan in plans:
            text = cloudwatch.TextWidget(markdown=describe(plan, stack), width=24, height=len(plan.steps) + 3)
            board.add_widgets(text)
        board.add_widgets(
            _graph("Orders", [watched.engine(name) for name in _ORDERS]),
            _graph("Submission to end (ms)", [watched.engine("SubmissionToEnd", each, each) for each in _PERCENTILES]),
        )
        board.add_widgets(
            _graph("Recovery", [watched.engine(name) for name in ("Claimed", "Recovered", "LateReplies", "Uncounted")]),
            _graph("For people", [watched.engine(name) for name in _FOR_PEOPLE]),
        )
        board.add_widgets(
            _graph("Convoy", [watched.engine(name) for name in _CONVOY]),
            _graph("Lanes in trouble", [watched.engine(name) for name in _LANES_IN_TROUBLE]),
        )
        board.add_widgets(
            _graph("Oldest message (s)", [age(work.queue, name) for name, work in watched.queues.items()]),
            _graph("Waiting", [depth(work.queue, name) for name, work in watched.queues.items()]),
        )
        board.add_widgets(
            _graph("Dead letters", [depth(queue, name) for name, queue in watched.dead.items()]),
            _graph("Most overdue (ms)", [watched.engine("OverdueAge", "Maximum")]),
        )
        board.add_widgets(
            _graph("Sweeps", [watched.engine(name) for name in ("Swept", "Overdue", "Overtime", "Unleased")]),
            _graph("Outside", [watched.engine(name) for name in ("BreakerOpened", "NoticesLost")]),
        )
        for agent in watched.agents:
            board.add_widgets(*_health_graphs(agent, watched))
        board.add_widgets(*(_function_graph(metric, watched) for metric in ("Errors", "Throttles")))
        durations = [work.metric_duration(statistic="p99", label=name) for name, work in watched.functions.items()]
        board.add_widgets(_graph("Duration, p99 (ms)", durations, width=24))


def describe(plan: Plan, stack: str) -> str:
    """The deployment and its workflow in Markdown."""
    return f"### {stack}: {title(plan)}\n\n{as_markdown(plan)}"


def _health_graphs(agent: str, watched: Watched) -> Sequence[cloudwatch.GraphWidget]:
    calls = [watched.health(agent, name) for name in ("CallSucceeded", "CallFailed")]
    state = [watched.health(agent, name, "Maximum") for name in ("InFlight", "BreakerState")]
    times = [watched.health(agent, "CallTime", statistic, statistic) for statistic in _PERCENTILES]
    return [
        _graph(f"{agent}: calls", calls, width=8),
        _graph(f"{agent}: in flight, breaker", state, width=8),
        _graph(f"{agent}: call time (ms)", times, width=8),
    ]


def _function_graph(metric: str, watched: Watched) -> cloudwatch.GraphWidget:
    return _graph(metric, [function_sum(function, metric, name) for name, function in watched.functions.items()])


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric], width: int = _WIDTH) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=metrics, width=width)
