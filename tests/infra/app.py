"""The CDK app of these tests: the same workflow as a development, a production, a replicated and a restored stack.

The restored one also drains what it can.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from aws_cdk import App, Validations
from aws_cdk import aws_lambda as lambda_
from cdk_nag import AwsSolutionsChecks

from stepward_cdk.stack import StepwardStack
from tests.infra.sample import (
    DEVELOPMENT,
    LEAN,
    PRODUCTION,
    PROJECT,
    REPLICATED,
    RESTORED,
    WIDE,
    application,
    drained,
    wide,
)

STACKS = {
    "Development": (application, DEVELOPMENT),
    "Production": (application, PRODUCTION),
    "Replicated": (application, REPLICATED),
    "Restored": (drained, RESTORED),
    "Wide": (wide, WIDE),
    "Lean": (application, LEAN),
}


def main(out: Path) -> None:
    """Write their templates to `out`; any Python file does for code, since nothing runs."""
    code = out / "code"
    code.mkdir(parents=True)
    (code / "submission.py").write_text("")
    context = json.loads((PROJECT.root / "cdk.json").read_text())["context"]
    app = App(context=context, outdir=str(out / "cdk.out"))
    for name, (chosen, settings) in STACKS.items():
        StepwardStack(app, name, app=chosen, settings=settings, code=lambda_.Code.from_asset(str(code)))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
