"""The dashboard of a deployment, derived from its workflows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from stepward.domain.history import TELLS, HistoryKind
from stepward.domain.workflow.drawing import as_markdown, title
from stepward.domain.workflow.plan import Plan
from stepward_cdk.watching.watched import Watched, age, depth, function_sum

_WIDTH = 12
_PERCENTILES = ("p50", "p99")
_ORDERS = ("Submitted", "Processed", "Failed", "Duplicates", "Conflicts")
_FOR_PEOPLE = ("Alerted", "Rejected", "Corrupt", "Ignored")
_CONVOY = ("Ledgers", "Applied", "Parked", "Ended")
_LANES_IN_TROUBLE = ("Blocked", "Gaps", "Idle", "Skipped")
_LEAN: Mapping[str, Sequence[str]] = {
    "Told and woken (% of what is enough)": ("Tells", "Wakes"),
    "What tells": [kind.metric for kind in HistoryKind if TELLS in kind.marks],
    "What wakes": ("Overdue", "Uncounted", "Corrupt", "NotUnderstood", "Crowded", "DeadLetters"),
    "Recovery": ("Swept", "Recovered", "LateReplies", "NoticesLost"),
}


class Dashboard(Construct):
    """Shows orders on top, then queues, agents and functions; lean, as few metrics as AWS's free tier has."""

    def __init__(self, scope: Construct, construct_id: str, *, plans: Sequence[Plan], watched: Watched) -> None:
        super().__init__(scope, construct_id)
        stack = watched.deployment.stack
        # An account has one list of dashboards for all of its regions.
        board = cloudwatch.Dashboard(self, "Dashboard", dashboard_name=f"{stack}-{Stack.of(self).region}")
        for plan in plans:
            text = cloudwatch.TextWidget(markdown=describe(plan, stack), width=24, height=len(plan.steps) + 3)
            board.add_widgets(text)
        add = self._add_all if watched.full else self._add_few
        add(board, watched)

    def _add_few(self, board: cloudwatch.Dashboard, watched: Watched) -> None:
        """Without what the parts say of themselves elsewhere: an agent's calls are its function's runs."""
        ended = watched.engine("SubmissionToEnd", "SampleCount", "Processed")
        board.add_widgets(
            _graph("Orders", [watched.engine("Submitted"), ended, watched.engine("Applied")]),
            _graph("Submission to end (ms)", [watched.engine("SubmissionToEnd", "p99", "p99")]),
        )
        board.add_widgets(
            *(_graph(title, [watched.engine(name) for name in names], 6) for title, names in _LEAN.items())
        )
        dead = [depth(work.dead, name) for name, work in watched.queues.items() if not name.startswith("agent-")]
        board.add_widgets(
            _graph("Oldest message (s)", [age(work.queue, name) for name, work in watched.queues.items()], 8),
            _graph("Dead letters", dead, 8),
            _function_graph("Errors", watched, 8),
        )
        runs = [(name, work) for name, work in watched.functions.items() if name.startswith("agent-")]
        board.add_widgets(_graph("Calls, p99 (ms)", [_duration(work, name) for name, work in runs]))

    def _add_all(self, board: cloudwatch.Dashboard, watched: Watched) -> None:
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
        durations = [_duration(work, name) for name, work in watched.functions.items()]
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


def _duration(function: lambda_.Function, label: str) -> cloudwatch.Metric:
    return function.metric_duration(statistic="p99", label=label)


def _function_graph(metric: str, watched: Watched, width: int = _WIDTH) -> cloudwatch.GraphWidget:
    every = [function_sum(function, metric, name) for name, function in watched.functions.items()]
    return _graph(metric, every, width)


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric], width: int = _WIDTH) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=metrics, width=width)
