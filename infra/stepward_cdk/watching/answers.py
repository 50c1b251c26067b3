"""The questions that the dashboard answers, in the order in which somebody who was woken asks them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_

from stepward.domain.attention import ENOUGH
from stepward_cdk.watching.watched import Watched, age, depth, function_sum, hidden, lambda_metric

_QUARTER, _THIRD, _HALF, _WHOLE = 6, 8, 12, 24
_HEIGHT = 5
_PERCENTILES = ("p50", "p99")
_WAITING: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "Orders": (("Failed", "Overtime", "Corrupt", "NotUnderstood"), ("Alerted", "TimedOut")),
    "Lanes": (("Blocked", "Gaps"), ("Idle", "Skipped")),
    "Messages and services": (("Rejected", "CameBack", "BreakerOpened", "NoticesLost"), ("Ignored",)),
}
"""What waits for somebody: the counts of each graph, and those that only full watching shows."""
_OVERDUE = ("Overdue", "Recovered", "Uncounted", "Swept"), ("Claimed", "LateReplies", "Unleased")


@dataclass(frozen=True, slots=True)
class Answer:
    """A question, what to type next, and the widgets that answer it."""

    question: str
    next: str
    widgets: Callable[[Watched], Sequence[cloudwatch.IWidget]]


def _wrong(watched: Watched) -> Sequence[cloudwatch.IWidget]:
    """Beside the alarms: lean, their sums; how many runs of each function died."""
    errors = _of_functions("Errors", watched)
    if watched.full:
        return [_graph("Runs that died", errors, _WHOLE)]
    rings = cloudwatch.HorizontalAnnotation(value=ENOUGH, label="rings")
    sums = [watched.engine(name) for name in ("Tells", "Wakes")]
    told = cloudwatch.GraphWidget(
        title="Tells, wakes (%)", left=sums, width=_THIRD, height=_HEIGHT, left_annotations=[rings]
    )
    return [told, _graph("Runs that died", errors, 2 * _THIRD)]


def _waiting(watched: Watched) -> Sequence[cloudwatch.IWidget]:
    """Lean, the Supervisor counts the dead letters."""
    graphs = [_counts(title, watched, *names) for title, names in _WAITING.items()]
    if watched.answered_later:
        graphs[-1].add_left_metric(watched.engine("Forged"))
    if watched.full:
        return [*graphs, _graph("Dead letters", [depth(queue, name) for name, queue in watched.dead.items()])]
    return [*graphs, _counts("Dead letters", watched, ("DeadLetters", "Unchecked", "Crowded"))]


def _much(watched: Watched) -> Sequence[cloudwatch.IWidget]:
    """How many orders came, how many ended, and what agents do; lean, that is in the runs of their functions."""
    if not watched.full:
        ended = watched.engine("SubmissionToEnd", "SampleCount", "Processed")
        counted = [watched.engine("Submitted"), ended, watched.engine("Applied")]
        return [_graph("Orders in, orders processed, events applied", counted, _WHOLE)]
    convoy = _counts("Convoy", watched, ("Ledgers", "Applied", "Parked", "Ended"))
    waiting = _graph("Messages that wait", [depth(work.queue, name) for name, work in watched.queues.items()])
    orders = ("Submitted", "Processed", "Failed", "Duplicates", "Conflicts")
    return [_counts("Orders", watched, orders, width=_HALF), convoy, waiting, *_calls(watched)]


def _calls(watched: Watched) -> Iterable[cloudwatch.IWidget]:
    for agent in watched.agents:
        calls = [watched.health(agent, name) for name in ("CallSucceeded", "CallFailed")]
        state = [watched.health(agent, name, "Maximum") for name in ("InFlight", "BreakerState")]
        yield _graph(f"{agent}: calls", calls)
        yield _graph(f"{agent}: in flight, breaker", state)


def _fast(watched: Watched) -> Sequence[cloudwatch.IWidget]:
    """How long orders, overdue steps, messages and calls take."""
    shown = _PERCENTILES if watched.full else ("p99",)
    ends = _graph("Submission to end (ms)", [watched.engine("SubmissionToEnd", each, each) for each in shown])
    ages = _graph("Oldest message (s)", [age(work.queue, name) for name, work in watched.queues.items()])
    graphs = [ends, _counts("Overdue steps", watched, *_OVERDUE), ages]
    if not watched.full:
        runs = {name: work for name, work in watched.functions.items() if name.startswith("agent-")}
        return [*graphs, _durations("Agents, p99 (ms)", runs)]
    overdue = _graph("Most overdue (ms)", [watched.engine("OverdueAge", "Maximum")])
    times = [
        _graph(f"{agent}: call time (ms)", [watched.health(agent, "CallTime", each, each) for each in _PERCENTILES])
        for agent in watched.agents
    ]
    return [*graphs, overdue, *times, _durations("Functions, p99 (ms)", watched.functions, _WHOLE)]


def _held_back(watched: Watched) -> Sequence[cloudwatch.IWidget]:
    """Tables and concurrency; FIFO queues, since SQS hides no more than 120,000 messages; full, each function."""
    tables = [metric.with_(label=name) for name, metric in watched.throttles.items()]
    account = [lambda_metric("Throttles", "Sum"), lambda_metric("ConcurrentExecutions", "Maximum")]
    fifo = {name: work.queue for name, work in watched.queues.items() if work.queue.fifo}
    counted = fifo if watched.full else {"order-events": fifo["order-events"]}
    in_flight = [hidden(queue).with_(label=name) for name, queue in counted.items()]
    graphs = [
        _graph("DynamoDB throttles", tables, _THIRD),
        _graph("Lambda, all of the account", account, _THIRD),
        _graph("FIFO in flight (SQS stops at 120,000)", in_flight, _THIRD),
    ]
    return [*graphs, *([_graph("Throttles", _of_functions("Throttles", watched), _WHOLE)] if watched.full else [])]


ANSWERS = (
    Answer(
        "Is anything wrong?",
        "`stepward status` lists what needs somebody, the worst first. An alarm says what to type; "
        "[all alarms](#alarmsV2:), [logs](#logsV2:logs-insights)",
        _wrong,
    ),
    Answer(
        "Is anything waiting for me?",
        "`stepward list --needs-attention` · `stepward convoy list` · `stepward rejects` · `stepward agents` · "
        "`stepward dead-letters list` · all of it in a browser: `stepward console`",
        _waiting,
    ),
    Answer("How much?", "`stepward list` · `stepward find since=1h`", _much),
    Answer("How fast?", "An order's time, step by step: `stepward show ORDER` · `stepward find since=1h`", _fast),
    Answer(
        "What does AWS hold back?",
        "Concurrency: raise the account's limit, or lower `engine_concurrency`. Tables: is one order, agent or shard "
        "too busy? `stepward verify` checks limits and rights",
        _held_back,
    ),
)


def _counts(
    title: str, watched: Watched, always: Sequence[str], full: Sequence[str] = (), width: int = _QUARTER
) -> cloudwatch.GraphWidget:
    """A graph of the engine's own counts."""
    names = [*always, *(full if watched.full else ())]
    return _graph(title, [watched.engine(name) for name in names], width)


def _durations(title: str, functions: Mapping[str, lambda_.Function], width: int = _QUARTER) -> cloudwatch.GraphWidget:
    return _graph(title, [each.metric_duration(statistic="p99", label=name) for name, each in functions.items()], width)


def _of_functions(metric: str, watched: Watched) -> Sequence[cloudwatch.IMetric]:
    return [function_sum(function, metric, name) for name, function in watched.functions.items()]


def _graph(title: str, metrics: Sequence[cloudwatch.IMetric], width: int = _QUARTER) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=metrics, width=width, height=_HEIGHT)
