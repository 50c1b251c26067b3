"""The page about watching and the template say the same, in both directions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from stepward.domain.attention import attention
from stepward.domain.history import HistoryEntry, HistoryKind
from stepward.project import Project
from tests.infra.template import Template, target
from tests.lab.benchmarks.cost.stack import billed

PAGE = (Project.here().root / "docs" / "watching.md").read_text(encoding="utf-8")
EVERY, _, LEAN = PAGE.partition("## Every alarm")[2].partition("Three alarms are lean only")
ROW = re.compile(
    r"^\| `([^`]+)` \| (tells|wakes) \| ([0-9]+)([^|]*) \| ([^|]{6,}) \| ([^|]{10,}) \| ([^|]{5,}) \|$", re.MULTILINE
)
LEAN_ROW = re.compile(r"^\| `([^`]+)` \| (tells|wakes) \| ([0-9]+) \| ([^|]{10,}) \| ([^|]{5,}) \|$", re.MULTILINE)
SHARED = re.compile(r"-[0-9]+$")
LONG_AGO = 86_400_000


def row_of(alarm: str) -> str:
    """How the page calls an alarm."""
    if alarm.startswith("agents-dead"):
        return SHARED.sub("", alarm)
    for kind, several in (("dead", "queue"), ("returned", "queue"), ("age", "queue")):
        if alarm.endswith(f"-{kind}"):
            return f"<{several}>-{kind}"
    for kind in ("errors", "dropped"):
        if alarm.endswith(f"-{kind}"):
            return f"<function>-{kind}"
    return alarm


def alarms_of(template: Template) -> Iterator[tuple[str, str, int]]:
    """Each alarm as the page calls it, with its topic and the metrics that it watches."""
    topics = {template.output("AlertsTopicArn"): "tells", template.output("PagesTopicArn"): "wakes"}
    for alarm in template.properties("CloudWatch::Alarm").values():
        (action,) = alarm["AlarmActions"]
        yield row_of(alarm["AlarmName"].partition("/")[2]), topics[target(action)], billed(alarm)


def test_the_page_lists_every_alarm_its_topic_and_its_price_and_no_other(production: Template, wide: Template) -> None:
    """S21, S22: whoever adds a watcher says what it is for and what it costs, and whoever takes one away, too."""
    listed: Mapping[str, tuple[str, int, bool]] = {
        name: (topic, int(metrics), bool(each)) for name, topic, metrics, each, *_ in ROW.findall(EVERY)
    }
    for template in (production, wide):
        found = defaultdict(set)
        for name, topic, metrics in alarms_of(template):
            found[name].add((topic, metrics))
        assert set(found) == set(listed)
        for name, (topic, metrics, each) in listed.items():
            assert {it for it, _ in found[name]} == {topic}, name
            assert each or {it for _, it in found[name]} == {metrics}, name


def test_each_way_of_losing_work_has_a_lean_alarm_that_the_page_names(lean: Template) -> None:
    """S21, S22: and the lean alarms are those, and no others."""
    found = {name: (topic, str(metrics)) for name, topic, metrics in alarms_of(lean)}
    instead = {name: cell for name, _, _, _, cell, *_ in ROW.findall(EVERY)}
    itself = {name for name, cell in instead.items() if "itself" in cell}
    alone = {name: (topic, metrics) for name, topic, metrics, *_ in LEAN_ROW.findall(LEAN)}
    assert set(found) == itself | set(alone)
    assert {name: found[name] for name in alone} == alone
    for name, cell in instead.items():
        named = set(re.findall(r"`([^`]+)`", cell))
        assert named <= set(found), name
        assert named or cell == "itself", name


def test_what_lean_watching_sums_up_is_what_the_engine_counts_there() -> None:
    """S22: a row that promises `Wakes` for what only tells, or for nothing, would be silent."""
    instead = {name: (topic, cell) for name, topic, _, _, cell, *_ in ROW.findall(EVERY)}
    summed = [kind for kind in HistoryKind if kind.metric in instead and kind.metric]
    assert len(summed) == 10
    for kind in summed:
        topic, cell = instead[kind.metric]
        assert cell == f"`{topic.capitalize()}`", kind
        assert topic.capitalize() in attention(HistoryEntry(0, kind, value=LONG_AGO)), kind
