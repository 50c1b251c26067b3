"""The dashboard answers its questions in their order, and what it shows and says to type is there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from itertools import groupby
from typing import Any

import pytest
from typer.main import get_command

from stepward.cli.main import app
from tests.infra.template import Template, joined

QUESTIONS = {
    "1. Is anything wrong?": {"Alarms", "Runs that died"},
    "2. Is anything waiting for me?": {"Orders", "Lanes", "Messages and services", "Dead letters"},
    "3. How much?": set[str](),
    "4. How fast?": {"Submission to end (ms)", "Overdue steps", "Oldest message (s)"},
    "5. What does AWS hold back?": {
        "DynamoDB throttles",
        "Lambda, all of the account",
        "FIFO in flight (SQS stops at 120,000)",
    },
    "What runs": set[str](),
}
OF_AWS: Mapping[str, Mapping[str, list[set[str]]]] = {
    "AWS/Lambda": {
        "Duration": [{"FunctionName"}],
        "Errors": [{"FunctionName"}],
        "Throttles": [{"FunctionName"}, set()],
        "ConcurrentExecutions": [set()],
    },
    "AWS/SQS": {
        "ApproximateAgeOfOldestMessage": [{"QueueName"}],
        "ApproximateNumberOfMessagesVisible": [{"QueueName"}],
        "ApproximateNumberOfMessagesNotVisible": [{"QueueName"}],
    },
    "AWS/DynamoDB": {"WriteThrottleEvents": [{"TableName"}], "ReadThrottleEvents": [{"TableName"}]},
}
"""What AWS documents, with the dimensions under which it has it."""
COMMAND = re.compile(r"`stepward ([^`]+)`")
SENT = re.compile(r"`stepward [^`]+ --stack [^`]+`")
MOST_WIDGETS, MOST_ALARMS, MOST_METRICS = 500, 100, 2500


@pytest.fixture(params=["lean", "template", pytest.param("wide", marks=pytest.mark.lab)])
def stack(request: pytest.FixtureRequest) -> Template:
    """A stack that is watched lean, one in full, and one with as many agents as there may be."""
    template: Template = request.getfixturevalue(request.param)
    return template


def widgets_of(template: Template) -> list[Mapping[str, Any]]:
    """The widgets of the dashboard, from top to bottom."""
    (board,) = template.properties("CloudWatch::Dashboard").values()
    return sorted(joined(board["DashboardBody"])["widgets"], key=lambda it: (it["y"], it["x"]))


def test_the_questions_stand_in_the_order_in_which_somebody_who_was_woken_asks_them(stack: Template) -> None:
    """O1: each over what answers it, and with what to type next."""
    asked: dict[str, set[str]] = {}
    for widget in widgets_of(stack):
        given = widget["properties"]
        if given.get("background") == "transparent":
            asked[(question := given["markdown"].splitlines()[0].removeprefix("## "))] = set()
            assert SENT.search(given["markdown"]) or question == "What runs"
        else:
            asked[question].add(given.get("title", ""))
    assert list(asked) == list(QUESTIONS)
    for question, titles in QUESTIONS.items():
        assert titles <= asked[question] != set(), question


def test_every_command_that_an_alarm_or_the_dashboard_names_is_one_that_can_be_typed(stack: Template) -> None:
    """O1: at night nobody looks up an option."""
    alarms = [alarm["AlarmDescription"] for alarm in stack.properties("CloudWatch::Alarm").values()]
    texts = [widget["properties"].get("markdown", "") for widget in widgets_of(stack)]
    named = {command for text in (*alarms, *texts) for command in COMMAND.findall(text)}
    assert len(named) >= 10
    root = get_command(app)
    for line in named:
        command, words = root, shlex.split(line)
        while (found := getattr(command, "commands", {})) and words[0] in found:
            command = found[words.pop(0)]
        with command.make_context("stepward", words):
            assert command.name not in {None, "stepward"}, line


def test_what_the_dashboard_shows_of_aws_is_there_under_its_name_and_dimensions(stack: Template) -> None:
    """S21: a graph of a misspelt metric stays empty, which looks like good news."""
    for widget in widgets_of(stack):
        for namespace, name, *pairs, _ in widget["properties"].get("metrics", []):
            assert namespace == "Stepward" or set(pairs[::2]) in OF_AWS[namespace][name], name


def test_aws_takes_the_dashboard_whole(stack: Template) -> None:
    """S21: CloudWatch refuses more, and a deployment with it."""
    widgets = widgets_of(stack)
    alarms = [it["properties"]["alarms"] for it in widgets if it["type"] == "alarm"]
    assert len(widgets) <= MOST_WIDGETS
    assert all(len(some) <= MOST_ALARMS for some in alarms)
    assert {name for some in alarms for name in some} == set(stack.of("CloudWatch::Alarm"))
    assert sum(len(it["properties"].get("metrics", [])) for it in widgets) <= MOST_METRICS
    assert all(it["x"] + it["width"] <= 24 for it in widgets)


def test_a_workflow_is_drawn_with_its_steps_below_one_another(template: Template) -> None:
    """O1: a text widget shows Markdown, so it is a block of characters that keeps its lines."""
    drawn = [it["properties"] for it in widgets_of(template) if "```" in it["properties"].get("markdown", "")]
    for properties, steps in zip(drawn, (["reserve", "charge", "ship"], ["recall"]), strict=True):
        block = properties["markdown"].split("```")[1].splitlines()
        assert [line.split(":")[0] for line, _ in groupby(block) if line.startswith("●")] == [f"● {it}" for it in steps]
