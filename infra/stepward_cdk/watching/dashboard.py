"""The dashboard of a deployment: five questions from top to bottom, then its workflows; docs/watching.md shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from stepward.domain.workflow.drawing import rails, title
from stepward.domain.workflow.plan import Plan
from stepward_cdk.watching.answers import ANSWERS
from stepward_cdk.watching.watched import Watched

_WHOLE, _HEADING, _TALLEST, _LINE = 24, 2, 20, 0.4
"""A width, and heights: of a heading, of a drawing that scrolls, of a line; in the dashboard's units."""
_TWO_LINES = 300
_IN_A_ROW, _MOST_ALARMS = 8, 100
"""Alarms in a row of a widget, and in a widget, which takes no more."""


class Dashboard(Construct):
    """Answers one question after another, and says below each what to type; lean, with at most 50 metrics.

    Lean, an agent or a customer more than the sample application has adds metrics beyond that number.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        plans: Mapping[str, Plan],
        watched: Watched,
        alarms: Sequence[cloudwatch.IAlarm],
    ) -> None:
        super().__init__(scope, construct_id)
        deployment = watched.deployment
        # An account has one list of dashboards for all of its regions.
        board = cloudwatch.Dashboard(self, "Dashboard", dashboard_name=f"{deployment.stack}-{Stack.of(self).region}")
        for number, answer in enumerate(ANSWERS, start=1):
            board.add_widgets(_text(f"## {number}. {answer.question}\n{deployment.addressed(answer.next)}"))
            board.add_widgets(*(_alarms(alarms) if number == 1 else []), *answer.widgets(watched))
        board.add_widgets(_text("## What runs\n`stepward workflow show` draws the same from the code"))
        board.add_widgets(*_drawings(plans.values(), deployment.stack))


def _alarms(alarms: Sequence[cloudwatch.IAlarm]) -> Sequence[cloudwatch.IWidget]:
    """Those that are on come first."""
    return [
        cloudwatch.AlarmStatusWidget(
            title="Alarms",
            alarms=some,
            sort_by=cloudwatch.AlarmStatusWidgetSortBy.STATE_UPDATED_TIMESTAMP,
            width=_WHOLE,
            height=_HEADING + ceil(len(some) / _IN_A_ROW),
        )
        for some in (alarms[first : first + _MOST_ALARMS] for first in range(0, len(alarms), _MOST_ALARMS))
    ]


def _text(markdown: str) -> cloudwatch.IWidget:
    """A heading; what does not fit into two lines, as long names make it, gets a unit more."""
    background, height = cloudwatch.TextWidgetBackground.TRANSPARENT, _HEADING + len(markdown) // _TWO_LINES
    return cloudwatch.TextWidget(markdown=markdown, width=_WHOLE, height=height, background=background)


def _drawings(plans: Iterable[Plan], stack: str) -> Sequence[cloudwatch.IWidget]:
    """Side by side; a text widget shows Markdown, so the only graph is one of characters."""
    drawn = {f"{stack}: {title(plan)}": rails(plan) for plan in plans}
    height = min(_TALLEST, _HEADING + ceil(max(map(len, drawn.values())) * _LINE))
    return [
        cloudwatch.TextWidget(
            markdown="\n".join([f"### {name}", "```", *lines, "```"]), width=_WHOLE // 2, height=height
        )
        for name, lines in drawn.items()
    ]
