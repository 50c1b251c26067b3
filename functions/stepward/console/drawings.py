"""Draws an order: its workflow coloured by state, and its attempts along time."""

from __future__ import annotations

from typing import Any

from stepward.domain.task.record import ProcessState, Task
from stepward.domain.workflow.drawing import as_mermaid
from stepward.domain.workflow.plan import UNDO_SUFFIX, Plan
from stepward.operator.wording.timeline import all_records, attempts
from stepward.operator.wording.times import clock

_FILLS = {
    ProcessState.PROCESSING: "#f59e0b",
    ProcessState.PROCESSED: "#15803d",
    ProcessState.ERROR: "#dc2626",
    ProcessState.STOPPED: "#9ca3af",
    ProcessState.SKIPPED: "#9ca3af",
    ProcessState.PENDING: "#e5e7eb",
}
_UNDONE = "#0891b2"
_DARK = frozenset({ProcessState.PROCESSED, ProcessState.ERROR})
_UNITS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1))
MOST_UNITS = 2
"""How many of a unit the chart is long, at least; else it is in the next smaller one."""
SHORTEST = 0.004
"""What part of the chart the shortest bar takes, so that it can be seen."""


def graph(task: Task, plan: Plan) -> str:
    """The workflow for Mermaid, each step in the colour of its state; a step that is undone has its own."""
    lines = [as_mermaid(plan)]
    for at, step in enumerate(plan.steps):
        record, undo = task.steps.get(step.name), task.steps.get(step.name + UNDO_SUFFIX)
        state = record.process_state if record else ProcessState.PENDING
        if undo is not None:
            state = undo.process_state
        fill = _UNDONE if undo and state is ProcessState.PROCESSED else _FILLS[state]
        text = "#fff" if state in _DARK else "#111"
        lines.append(f"  style s{at} fill:{fill},color:{text},stroke:#374151")
    arrows = ["  linkStyle default stroke:#888"] if "-->" in lines[0] else []
    return "\n".join([*lines, *arrows])


def chart(task: Task, plan: Plan, now: int) -> dict[str, Any]:
    """The attempts for ECharts: a bar for each along the time since submission, and a mark for a complete-by."""
    names = [record.name for record in all_records(task, plan)]
    bars, marks, begun = _bars(task, plan, now), _marks(task), task.created_at
    length = max([end for _, _, end, _ in bars] + [at for _, at in marks], default=begun) - begun
    unit, ms = next(each for each in _UNITS if length >= MOST_UNITS * each[1] or each is _UNITS[-1])
    least = max(1, round(length * SHORTEST))
    rows = [(name, (at - begun) / ms, max(end - at, least) / ms, colour) for name, at, end, colour in bars]
    lines = {"axisLabel": {"color": "#888"}, "splitLine": {"lineStyle": {"color": "#8884"}}}
    return {
        "animation": False,
        "tooltip": {"renderMode": "richText"},
        "grid": {"left": 8, "right": 24, "top": 8, "bottom": 8, "containLabel": True},
        "xAxis": {**lines, "type": "value", "min": 0, "axisLabel": {"color": "#888", "formatter": f"{{value}} {unit}"}},
        "yAxis": {**lines, "type": "category", "data": names, "inverse": True},
        "series": [*_series(rows), _points(marks, begun, ms)],
    }


def _series(rows: list[tuple[str, float, float, str]]) -> list[dict[str, Any]]:
    """Two series for each attempt of a step: a bar that is not seen up to its start, and its own."""
    counts: dict[str, int] = {}
    ends: dict[str, float] = {}
    series: list[dict[str, Any]] = []
    for name, start, length, colour in sorted(rows, key=lambda row: row[1]):
        counts[name] = counts.get(name, 0) + 1
        unseen = {"name": "", "value": [max(0, start - ends.get(name, 0)), name], "itemStyle": {"color": "transparent"}}
        seen = {"name": f"attempt {counts[name]}", "value": [length, name], "itemStyle": {"color": colour}}
        ends[name] = max(start, ends.get(name, 0)) + length
        shared = {"type": "bar", "stack": "attempts", "barWidth": 14}
        series += [{**shared, "silent": True, "tooltip": {"show": False}, "data": [unseen]}, {**shared, "data": [seen]}]
    return series


def _points(marks: list[tuple[str, int]], begun: int, ms: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "name": "complete-by",
        "symbol": "diamond",
        "symbolSize": 12,
        "itemStyle": {"color": "#7c3aed"},
        "data": [{"name": f"complete-by {clock(at)}", "value": [(at - begun) / ms, name]} for name, at in marks],
    }


def _bars(task: Task, plan: Plan, now: int) -> list[tuple[str, int, int, str]]:
    ended = {(entry.step, entry.attempt): entry.at for entry in task.history}
    bars = []
    for (name, attempt), (at, _) in attempts(task, plan).items():
        record = task.steps[name]
        if attempt == record.attempt:
            end = record.ended_at or (now if record.runs else ended.get((name, attempt), at))
            fill = _UNDONE if record.is_compensation else _FILLS[record.process_state]
        else:
            end, fill = ended.get((name, attempt), at), _FILLS[ProcessState.ERROR]
        bars.append((name, at, max(at, end), fill))
    return bars


def _marks(task: Task) -> list[tuple[str, int]]:
    return [(name, record.complete_by) for name, record in task.steps.items() if record.complete_by is not None]
