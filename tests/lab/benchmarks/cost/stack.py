"""Counts the resources of the stack that AWS bills by the month, in its template."""

import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from aws_cdk import App
from aws_cdk import aws_lambda as lambda_

from orders import app as application
from stepward.project import Project
from stepward_cdk.settings.chosen import in_file
from stepward_cdk.stack import StepwardStack

_COUNTED = {"AWS::CloudWatch::Alarm": "alarms", "AWS::Lambda::EventSourceMapping": "queues"}


def counted() -> Mapping[str, float]:
    """How many alarms the stack of the sample workflow holds, and how many queues Lambda polls."""
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
    kinds = Counter(resource["Type"] for resource in template["Resources"].values())
    return {name: kinds[kind] for kind, name in _COUNTED.items()}
