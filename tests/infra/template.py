"""A synthesised template, and the questions that promises ask of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Resource = Mapping[str, Any]


@dataclass(frozen=True)
class Template:
    """The template as CloudFormation gets it; a logical id stands for a Ref or Fn::GetAtt to it."""

    body: Mapping[str, Any]

    def of(self, kind: str) -> Mapping[str, Resource]:
        """All resources of a type by logical id; a template without any keeps no promise about it."""
        found = {name: res for name, res in self.body["Resources"].items() if res["Type"] == f"AWS::{kind}"}
        assert found, f"the template has no AWS::{kind}"
        return found

    def properties(self, kind: str) -> Mapping[str, Mapping[str, Any]]:
        return {name: resource["Properties"] for name, resource in self.of(kind).items()}

    def function(self, handler: str, whose: str = "") -> str:
        """The logical id of the function with this handler, of this agent or customer if there are several."""
        for name, function in self.properties("Lambda::Function").items():
            given = function["Environment"]["Variables"]
            known = given.get("STEPWARD_AGENT", given.get("STEPWARD_LEDGER_CUSTOMER", ""))
            if function["Handler"] == f"{handler}.handler" and known == whose:
                return name
        raise LookupError(f"{handler} {whose}")

    def environment(self, function: str) -> Mapping[str, Any]:
        variables: Mapping[str, Any] = self.properties("Lambda::Function")[function]["Environment"]["Variables"]
        return variables

    def sources(self) -> Iterator[tuple[Mapping[str, Any], str, str]]:
        """Each event source mapping, with its queue and its function."""
        for mapping in self.properties("Lambda::EventSourceMapping").values():
            yield mapping, target(mapping["EventSourceArn"]), target(mapping["FunctionName"])

    def mapping(self, queue: str) -> Mapping[str, Any]:
        (mapping,) = [mapping for mapping, source, _ in self.sources() if source == queue]
        return mapping

    def requests_queue(self, agent: str) -> str:
        """The logical id of an agent's ordinary queue."""
        return target(self.environment(self.function("agent", agent))["STEPWARD_REQUESTS_QUEUE"])

    def customers(self) -> Mapping[str, str]:
        """The logical ids of the queues for ledgers of one customer alone, by customer."""
        return dict(joined(self.body["Outputs"]["CustomerLedgerQueueUrls"]["Value"]))

    def ledgers(self) -> set[str]:
        """The logical ids of the functions that split ledgers."""
        functions = self.properties("Lambda::Function")
        return {name for name, function in functions.items() if function["Handler"] == "ledger.handler"}

    def priority_queues(self) -> Mapping[str, str]:
        """The logical ids of the priority queues, by agent."""
        return self.derived("scheduler", "PRIORITY_AGENTS", "-high")

    def derived(self, function: str, agents: str, ending: str = "") -> Mapping[str, str]:
        """The logical ids of the queues whose addresses this function derives, by agent."""
        given = self.environment(self.function(function))
        named = {queue.get("QueueName"): logical for logical, queue in self.properties("SQS::Queue").items()}
        names = [name for name in given[f"STEPWARD_{agents}"].split(",") if name]
        return {name: named[f"{given['STEPWARD_AGENT_PREFIX']}{name}{ending}"] for name in names}

    def source_queues(self) -> Mapping[str, Mapping[str, Any]]:
        """The queues that functions take messages from, by logical id."""
        queues = self.properties("SQS::Queue")
        return {queue: queues[queue] for _, queue, _ in self.sources()}

    def statements(self, function: str) -> list[Mapping[str, Any]]:
        role = target(self.properties("Lambda::Function")[function]["Role"])
        policies = self.properties("IAM::Policy").values()
        mine = [policy for policy in policies if role in {target(name) for name in policy["Roles"]}]
        return [statement for policy in mine for statement in policy["PolicyDocument"]["Statement"]]

    def may(self, function: str, action: str) -> set[str]:
        """The logical ids of everything on which the function may do `action`."""
        allowed = [item for item in self.statements(function) if action in as_list(item["Action"])]
        return {target(resource) for item in allowed for resource in as_list(item["Resource"])}

    def watched(self) -> Iterator[tuple[Resource, Mapping[str, Any]]]:
        """Each alarm with each metric that it watches, alone or in an expression."""
        for alarm in self.properties("CloudWatch::Alarm").values():
            for part in alarm.get("Metrics", [{"MetricStat": {"Metric": alarm}}]):
                if "MetricStat" in part:
                    yield alarm, part["MetricStat"]["Metric"]

    def output(self, name: str) -> str:
        return target(self.body["Outputs"][name]["Value"])


def target(value: Any) -> str:
    """The logical id that a Ref, a Fn::GetAtt or a join on one of them points at, the end of an ARN; else the text."""
    match value:
        case str():
            return value
        case {"Ref": str(name)}:
            return name
        case {"Fn::GetAtt": [str(name), _]}:
            return name
        case {"Fn::Join": [_, [{**first}, *_]]}:
            return target(first)
        case {"Fn::Join": [_, ["arn:", *_, str(last)]]}:
            return last.rsplit(":", maxsplit=1)[-1]
    raise ValueError(f"{value!r} points at nothing")


def joined(value: Any) -> Any:
    """A JSON value that CloudFormation joins together, with logical ids in place of what they point at."""
    parts = [value] if isinstance(value, str) else value["Fn::Join"][1]
    return json.loads("".join(part if isinstance(part, str) else target(part) for part in parts))


def as_list(value: Any) -> list[Any]:
    """A policy's field as a list, whichever way it was written."""
    return value if isinstance(value, list) else [value]
