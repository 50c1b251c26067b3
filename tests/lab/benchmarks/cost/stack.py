"""Counts the resources of the stack that AWS bills by the month, in its template."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from aws_cdk import App
from aws_cdk import aws_lambda as lambda_

from stepward.cli.cost.functions import QUEUES
from stepward.project import Project
from stepward_cdk.settings.settings import Settings
from stepward_cdk.stack import StepwardStack
from tests.infra.template import Template, joined
from tests.shop import app as shop

Watching = Literal["lean", "full"]
METRICS: Mapping[Watching, int] = {"lean": 3, "full": 20}
"""Metrics that a deployment with three agents writes if all goes well; `test_counted_requests` counts them."""


def counted(watching: Watching = "lean") -> Mapping[str, float]:
    """What of the sample workflow's stack is billed by the month.

    That are the metrics that alarms watch, the queues that Lambda polls, those that the Supervisor counts, dashboards,
    the metrics on them, and keys.
    """
    return counted_in(synthesised(watching))


def synthesised(watching: Watching = "lean") -> Template:
    """The template of the sample workflow's stack."""
    with tempfile.TemporaryDirectory() as out:
        code = Path(out) / "code"
        code.mkdir()
        (code / "submission.py").write_text("")
        context = json.loads((Project.here().root / "cdk.json").read_text())["context"]
        addresses = {name: f"https://{name}.example.com" for name in shop.services}
        settings = Settings(watching=watching, shards=4, service_urls=addresses)
        app, asset = App(context=context, outdir=f"{out}/cdk.out"), lambda_.Code.from_asset(str(code))
        StepwardStack(app, "Cost", app=shop, settings=settings, code=asset)
        app.synth()
        return Template(json.loads((Path(out) / "cdk.out" / "Cost.template.json").read_text()))


def counted_in(template: Template) -> Mapping[str, float]:
    """The same of one template."""
    found = [each["Type"] for each in template.body["Resources"].values()]
    fifo = [queue for queue in template.source_queues().values() if queue.get("FifoQueue")]
    named = template.environment(template.function("supervisor")).get("STEPWARD_DEAD_LETTERS")
    boards = template.properties("CloudWatch::Dashboard").values()
    return {
        "alarms": sum(map(billed, template.properties("CloudWatch::Alarm").values())),
        "queues": len(template.source_queues()) - len(fifo),
        "fifo queues": len(fifo),
        "counted queues": json.dumps(named).count("=") + 1 if named else 0,
        "dashboards": len(boards),
        "shown": sum(len(shown_on(board)) for board in boards),
        "keys": found.count("AWS::KMS::Key"),
        **dict(_taken(template)),
    }


def _taken(template: Template) -> Iterator[tuple[str, float]]:
    """How Lambda takes messages from each queue of the engine, and from those of agents."""
    for mapping in template.properties("Lambda::EventSourceMapping").values():
        for name in (*QUEUES, "agent"):
            if f"Queues{name.capitalize()}" in str(mapping["EventSourceArn"]):
                yield f"batch of {name}", mapping["BatchSize"]
                yield f"at once of {name}", mapping["ScalingConfig"]["MaximumConcurrency"]
                yield f"window of {name}", mapping.get("MaximumBatchingWindowInSeconds", 0)


def shown_on(board: Mapping[str, Any]) -> list[list[Any]]:
    """The metrics of a dashboard, each as often as it is shown."""
    graphs = joined(board["DashboardBody"])["widgets"]
    return [metric for graph in graphs for metric in graph["properties"].get("metrics", [])]


def billed(alarm: Mapping[str, Any]) -> int:
    """The metrics of an alarm, each of which is billed; an expression is not."""
    return sum("MetricStat" in each for each in alarm["Metrics"]) if "Metrics" in alarm else 1
