"""Counts the resources of the stack that AWS bills by the month, in its template."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aws_cdk import App
from aws_cdk import aws_lambda as lambda_

from orders import app as application
from stepward.project import Project
from stepward_cdk.settings.chosen import in_file
from stepward_cdk.stack import StepwardStack


def counted() -> Mapping[str, float]:
    """How many metrics the alarms of the sample workflow's stack watch, and how many queues Lambda polls."""
    with tempfile.TemporaryDirectory() as out:
        code = Path(out) / "code"
        code.mkdir()
        (code / "submission.py").write_text("")
        context = json.loads((Project.here().root / "cdk.json").read_text())["context"]
        settings = in_file(Project.here().environment("dev"))
        app, asset = App(context=context, outdir=f"{out}/cdk.out"), lambda_.Code.from_asset(str(code))
        StepwardStack(app, "Cost", app=application, settings=settings, code=asset)
        app.synth()
        template = json.loads((Path(out) / "cdk.out" / "Cost.template.json").read_text())
    found = template["Resources"].values()
    alarms = [each["Properties"] for each in found if each["Type"] == "AWS::CloudWatch::Alarm"]
    queues = [each for each in found if each["Type"] == "AWS::Lambda::EventSourceMapping"]
    return {"alarms": sum(map(billed, alarms)), "queues": len(queues)}


def billed(alarm: Mapping[str, Any]) -> int:
    """The metrics of an alarm, each of which is billed; an expression is not."""
    return sum("MetricStat" in each for each in alarm["Metrics"]) if "Metrics" in alarm else 1
