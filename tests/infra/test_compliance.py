"""cdk-nag has checked everything, and each acknowledged finding has a reason."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stepward_cdk.functions.interpreter import node_folder

REPLY_QUEUES = {
    f"IAM5[Resource::arn:<AWS::Partition>:sqs:eu-west-1:{account}:{prefix}-*]"
    for account in ("111122223333", "444455556666")
    for prefix in ("replies", "shop")
}


@pytest.fixture(scope="session")
def report(assembly: Path) -> Mapping[str, Any]:
    """What cdk-nag's AwsSolutions pack found in all stacks."""
    reports = json.loads((assembly / "validation-report.json").read_text())["pluginReports"]
    (ours,) = [it for it in reports if it["pluginName"] == "AwsSolutions"]
    return dict(ours)


def test_cdk_nag_finds_nothing_that_has_no_reason(report: Mapping[str, Any]) -> None:
    """S22."""
    assert (report["conclusion"], report["violations"]) == ("success", [])
    assert all(len(it["reason"].split()) > 5 for it in report["suppressedViolations"])


def test_only_these_findings_are_acknowledged(report: Mapping[str, Any]) -> None:
    """S22: an acknowledgement that covers more than it was written for hides the next finding."""
    assert {it["ruleName"].removeprefix("AwsSolutions-") for it in report["suppressedViolations"]} == {
        "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]",
        "IAM5[Resource::*]",
        "IAM5[Resource::<LedgersBucket6A21F563.Arn>/*]",
        "IAM5[Resource::<RejectsBucket6A0EBCCD.Arn>/*]",
        "IAM5[Action::kms:GenerateDataKey*]",
        "L1",
        "S1",
        "SMG4",
        "SQS3",
        *REPLY_QUEUES,
    }


def test_cdk_runs_on_the_node_that_the_environment_ships() -> None:
    """S22: a fresh clone needs no node of the system's, which may be too old."""
    assert (Path(node_folder()) / "node").exists()
    assert os.environ["PATH"].split(os.pathsep)[0] == node_folder()
