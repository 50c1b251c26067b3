"""The dashboard of a deployment, derived from its workflow."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from stepward.domain.workflow.plan import Plan
from stepward_cdk.watching.watched import Watched, age, depth, engine, function_sum, health

_WIDTH = 12
_FOR_PEOPLE = ("Alerted", "Rejected", "Corrupt", "Ignored")
_CONVOY = ("Ledgers", "Applied", "Parked", "Ended")
_LANES_IN_TROUBLE = ("Blocked", "Gaps", "Idle", "Skipped")


class Dashboard(Construct):
    """Shows orders on top, then queues, agents and functions."""

    def __init__(self, scope: Construct, construct_id: str, *, plan: Plan, watched: Watched) -> None:
        super().__init__(scope, construct_id)
        board = cloudwatch.Dashboard(self, "Dashboard")
        board.add_widgets(cloudwatch.TextWidget(markdown=describe(plan), width=24, height=len(plan.steps) + 3))
        board.add_widgets(
            _graph(
                "Orders", [engine(name) for name in ("Submitted", "Processed", "Failed", "Duplicates", "Conflicts")]
            ),
            _graph("Submission to end (ms)", [engine("SubmissionToEnd", stat, stat) for stat in ("p50", "p99")]),
        )
        board.add_widgets(
            _graph("Recovery", [engine(name) for name in ("Claimed", "Recovered", "LateReplies", "Uncounted")]),
            _graph("For people", [engine(name) for name in _FOR_PEOPLE]),
        )
        board.add_widgets(
            _graph("Convoy", [engine(name) for name in _CONVOY]),
            _graph("Lanes in trouble", [engine(name) for name in _LANES_IN_TROUBLE]),
        )
        board.add_widgets(
            _graph("Oldest message (s)", [age(work.queue, name) for name, work in watched.queues.items()]),
            _graph("Waiting", [depth(work.queue, name) for name, work in watched.queues.items()]),
        )
        board.add_widgets(
            _graph("Dead letters", [depth(queue, name) for name, queue in watched.dead.items()]),
            _graph("Most overdue (ms)", [engine("OverdueAge", "Maximum")]),
        )
        board.add_widgets(
            _graph("Sweeps", [engine(name) for name in ("Swept", "Overdue", "Overtime", "Unleased")]),
            _graph("Outside", [engine(name) for name in ("BreakerOpened", "NoticesLost")]),
        )
        for agent in watched.agents:
            board.add_widgets(*_health_graphs(agent))
        board.add_widgets(*(_function_graph(metric, watched) for metric in ("Errors", "Throttles")))
        board.add_widgets(
            _graph(
                "Duration, p99 (ms)",
                [work.metric_duration(statistic="p99", label=name) for name, work in watched.functions.items()],
                width=24,
            )
        )


def describe(plan: Plan) -> str:
    """The workflow as a Markdown table, one line a step."""
    head = [
        f"### {plan.workflow}, version {plan.version}",
        "",
        "| step | agent | after | complete within | threshold |",
    ]
    rows = [
        f"| {step.name} | {step.agent} | {', '.join(step.after) or '-'} | {step.complete_within / 1000:g} s "
        f"| {step.threshold} |"
        for step in plan.steps
    ]
    return "\n".join([*head, "|---|---|---|---|---|", *rows])


def _health_graphs(agent: str) -> Sequence[cloudwatch.GraphWidget]:
    calls = [health(agent, name) for name in ("CallSucceeded", "CallFailed")]
    state = [health(agent, name, "Maximum") for name in ("InFlight", "BreakerState")]
    times = [health(agent, "CallTime", statistic, statistic) for statistic in ("p50", "p99")]
    return [
        _graph(f"{agent}: calls", calls, width=8),
        _graph(f"{agent}: in flight, breaker", state, width=8),
        _graph(f"{agent}: call time (ms)", times, width=8),
    ]


def _function_graph(metric: str, watched: Watched) -> cloudwatch.GraphWidget:
    return _graph(metric, [function_sum(function, metric, name) for name, function in watched.functions.items()])


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric], width: int = _WIDTH) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=metrics, width=width)
