"""Deployments share an account and a region: what leaves one names it, and no name is taken twice."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.infra.sample import DEVELOPMENT, PRODUCTION
from tests.infra.template import Template, joined

STACKS = {DEVELOPMENT.stack: "template", PRODUCTION.stack: "production"}
CHOSEN_NAMES = re.compile(r"(Queue|Table|Bucket|Function|Role|Topic|LogGroup|Alarm|Dashboard|Policy|Alias)Name|Name")
COMMAND = re.compile(r"`(stepward [^`]+)`")


@pytest.fixture(params=STACKS)
def deployed(request: pytest.FixtureRequest) -> tuple[str, Template]:
    """A stack's name and template."""
    return request.param, request.getfixturevalue(STACKS[request.param])


def own_metrics(template: Template) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Each metric of the engine that an alarm or the dashboard watches, with its dimensions."""
    for _, metric in template.watched():
        if metric["Namespace"] == "Stepward":
            yield metric["MetricName"], {it["Name"]: it["Value"] for it in metric["Dimensions"]}
    (board,) = template.properties("CloudWatch::Dashboard").values()
    for graph in joined(board["DashboardBody"])["widgets"]:
        for _, name, *pairs in (it for it in graph["properties"].get("metrics", []) if it[0] == "Stepward"):
            yield name, dict(zip(pairs[:-1:2], pairs[1:-1:2], strict=True))


def test_no_deployment_watches_the_metrics_of_another(deployed: tuple[str, Template]) -> None:
    """D3, case 8: else development pages for production, and keeps its dead-man alarm green."""
    stack, template = deployed
    assert {dimensions["service"] for _, dimensions in own_metrics(template)} == {stack}
    for function in template.of("Lambda::Function"):
        assert template.environment(function)["POWERTOOLS_SERVICE_NAME"] == stack


def test_the_name_of_a_deployment_costs_no_further_series(deployed: tuple[str, Template]) -> None:
    """D3: a series is billed, so the name is the value of a dimension that is there anyway."""
    _, template = deployed
    assert {frozenset(dimensions) for _, dimensions in own_metrics(template)} == {
        frozenset({"service"}),
        frozenset({"service", "agent"}),
    }


def test_every_alarm_and_the_commands_in_it_name_the_deployment(deployed: tuple[str, Template]) -> None:
    """D3, case 8: the mail of an alarm consists of its name and its description."""
    stack, template = deployed
    told = 0
    for alarm in template.properties("CloudWatch::Alarm").values():
        assert alarm["AlarmName"].startswith(f"{stack}/")
        assert alarm["AlarmDescription"].startswith(f"{stack}: ")
        for command in COMMAND.findall(alarm["AlarmDescription"]):
            assert command.endswith(f" --stack {stack}")
            told += 1
    assert told >= 5
    assert {topic["DisplayName"] for topic in template.properties("SNS::Topic").values()} == {stack}


def test_no_two_deployments_claim_one_name(deployed: tuple[str, Template]) -> None:
    """D3: CloudFormation chooses the names, or they begin with the stack's; nothing is exported under a fixed one."""
    stack, template = deployed
    for resource in template.body["Resources"].values():
        for key, value in resource.get("Properties", {}).items():
            if CHOSEN_NAMES.fullmatch(key) and isinstance(value, str) and resource["Type"] != "AWS::IAM::Policy":
                assert value.startswith(stack), (resource["Type"], key)
    assert [name for name, output in template.body["Outputs"].items() if "Export" in output] == []
    (board,) = template.properties("CloudWatch::Dashboard").values()
    assert board["DashboardName"] == {"Fn::Join": ["", [f"{stack}-", {"Ref": "AWS::Region"}]]}
    assert f"### {stack}: " in json.dumps(board["DashboardBody"])


def test_the_deployed_settings_stand_in_the_template(production: Template) -> None:
    """D2: the next deployment is compared with them."""
    kept: Mapping[str, Any] = production.body["Metadata"]["Stepward"]
    assert (kept["environment"], kept["shards"], kept["service_urls"]) == ("prod", 4, dict(PRODUCTION.service_urls))
