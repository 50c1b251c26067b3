"""Synthesises a project's stack: the whole of an ordinary CDK app."""

from __future__ import annotations

import json
import os
import sys

from aws_cdk import App, AssetHashType, Validations
from aws_cdk import aws_lambda as lambda_
from cdk_nag import AwsSolutionsChecks

from stepward.app_checks import unlisted_workflows
from stepward.domain.errors import StepwardError
from stepward.project import Project
from stepward_cdk.functions.bundling import bundle
from stepward_cdk.functions.entry_points import check_entry_points
from stepward_cdk.settings.agent_needs import check_addresses, unfit_addresses
from stepward_cdk.settings.chosen import choose
from stepward_cdk.stack import StepwardStack


def synthesise(project: Project) -> None:
    """Write the template and the bundle that it deploys to `cdk.out`, or to where the CDK command says.

    Exits with the reason if the project's application or settings cannot be deployed.
    """
    try:
        _synthesise(project)
    except StepwardError as error:
        sys.exit(f"The stack cannot be synthesised: {error}")


def _synthesise(project: Project) -> None:
    context = json.loads((project.root / "cdk.json").read_text()).get("context", {})
    app = App(context=context, outdir=os.environ.get("CDK_OUTDIR", str(project.root / "cdk.out")))
    chosen, application = choose(project, app.node.get_all_context()), project.app()
    settings = chosen.settings
    for note in (
        *chosen.notes,
        *unlisted_workflows(application, project.functions),
        *unfit_addresses(application, chosen),
    ):
        sys.stderr.write(f"{note}\n")
    # Before the bundle, which takes its time.
    check_addresses(application, settings.service_urls, chosen.addresses)
    check_entry_points(project)
    code = bundle(settings.platform, project)
    StepwardStack(
        app,
        "Stepward",
        app=application,
        settings=settings,
        code=lambda_.Code.from_asset(
            str(code.path), asset_hash=code.content_hash, asset_hash_type=AssetHashType.CUSTOM
        ),
    )
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
