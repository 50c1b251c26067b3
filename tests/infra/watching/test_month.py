"""What a month costs before the first order, counted from the template of the sample application."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stepward.cli.cost.counting import COUNTED
from stepward.cli.cost.estimate import MOST_SHOWN, Estimate, estimate, measured
from stepward.project import Project
from tests.lab.benchmarks.cost.stack import METRICS, Watching, counted

ROOT = Project.here().root
WATCHING, PERFORMANCE = (
    (ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("watching.md", "performance.md")
)


@pytest.fixture(scope="module", params=["lean", "full"])
def month(request: pytest.FixtureRequest) -> tuple[Watching, Estimate]:
    """How it is watched, and its bill."""
    found, watching = measured(), request.param
    stack = {**counted(watching), "metrics": METRICS[watching]}
    if watching == "lean":
        assert stack == found.stack, "`make bench ONLY=cost` stores new counts"
    return watching, estimate(dict.fromkeys(COUNTED, 0.0), replace(found, stack=stack))


def test_a_month_without_orders_keeps_its_budget_by_default(month: tuple[Watching, Estimate]) -> None:
    """S21: $9 in us-east-1, and $3 in an account that has AWS's free tier for it alone."""
    watching, bill = month
    if watching == "lean":
        assert measured().stack["shown"] <= MOST_SHOWN
        assert bill.month_usd <= 9
        assert bill.month_beyond_free_usd <= 3


def test_the_pages_tell_the_month_as_it_is_counted(month: tuple[Watching, Estimate]) -> None:
    """S21: a column of a table for each way of watching."""
    watching, bill = month
    column = 1 + ["lean", "full"].index(watching)
    rows = [line.split("|")[1:-1] for line in WATCHING.splitlines() if line.startswith("|")]
    told = {row[0].strip(): row[column].strip() for row in rows if len(row) == 3}
    usd = {line.name: f"${line.usd:.2f}" for line in bill.per_month}
    assert usd["Alarms"] in told["alarms of the sample application"]
    assert usd["Custom metrics"] in told["metrics of its own, if all goes well"]
    assert usd["Dashboard"] in told["dashboard"]
    assert f"${bill.month_usd:.2f}" in told["**the month in all** ([prices](performance.md#a-month))"]
    assert told["in an account with AWS's free tier"] == f"${bill.month_beyond_free_usd:.2f}"
    if watching == "lean":
        for line in bill.per_month:
            assert f"| {line.name} | " in PERFORMANCE, line.name
            assert f"| {line.usd:.2f} |" in PERFORMANCE, line.name
