"""The CDK app: one stack for the application's workflow."""

from __future__ import annotations

import json
import os
import sys

from aws_cdk import App, AssetHashType, Validations
from aws_cdk import aws_lambda as lambda_
from cdk_nag import AwsSolutionsChecks

from infra.bundling import bundle
from infra.interpreter import ROOT
from infra.settings import Settings
from infra.stack import StepwardStack
from orders import app as application
from stepward.domain.errors import StepwardError


def main() -> None:
    """Write the template and the bundle that it deploys to `cdk.out`, or to where the CDK command says."""
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = App(context=context, outdir=os.environ.get("CDK_OUTDIR", str(ROOT / "cdk.out")))
    settings = Settings.from_context(app.node.try_get_context)
    code = bundle(settings.platform)
    StepwardStack(
        app,
        "Stepward",
        workflow=application.workflow,
        settings=settings,
        code=lambda_.Code.from_asset(
            str(code.path), asset_hash=code.content_hash, asset_hash_type=AssetHashType.CUSTOM
        ),
    )
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()


if __name__ == "__main__":
    try:
        main()
    except StepwardError as error:
        sys.exit(f"The stack cannot be synthesised: {error}")
