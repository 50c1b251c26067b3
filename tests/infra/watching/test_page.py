"""The page about watching and the template say the same, in both directions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from stepward.project import Project
from tests.infra.template import Template, target
from tests.lab.benchmarks.cost.stack import billed, counted

PAGE = (Project.here().root / "docs" / "watching.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `([^`]+)` \| (tells|wakes) \| ([0-9]+)([^|]*) \| ([^|]{10,}) \| ([^|]{5,}) \|$", re.MULTILINE)
SHARED = re.compile(r"-[0-9]+$")


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


def test_the_page_lists_every_alarm_its_topic_and_its_price_and_no_other(production: Template, wide: Template) -> None:
    """S21, S22: whoever adds a watcher says what it is for and what it costs, and whoever takes one away, too."""
    listed: Mapping[str, tuple[str, int, bool]] = {
        name: (topic, int(metrics), bool(each)) for name, topic, metrics, each, _, _ in ROW.findall(PAGE)
    }
    for template in (production, wide):
        topics = {template.output("AlertsTopicArn"): "tells", template.output("PagesTopicArn"): "wakes"}
        found = defaultdict(set)
        for alarm in template.properties("CloudWatch::Alarm").values():
            (action,) = alarm["AlarmActions"]
            found[row_of(alarm["AlarmName"].partition("/")[2])].add((topics[target(action)], billed(alarm)))
        assert set(found) == set(listed)
        for name, (topic, metrics, each) in listed.items():
            assert {it for it, _ in found[name]} == {topic}, name
            assert each or {it for _, it in found[name]} == {metrics}, name


def test_the_month_on_the_page_is_counted_from_the_template() -> None:
    """S21: that of the sample application."""
    watched = int(counted()["alarms"])
    assert f"watch {watched} metrics, ${watched / 10:.2f} a month" in PAGE
