"""Deploys a synthesised stack to a local cloud through CloudFormation, like to an account."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic, sleep  # noqa: TID251 -- a command on a person's machine may wait
from typing import TYPE_CHECKING, Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from stepward.domain.errors import StepwardError
from stepward.local.access import REGION, access
from stepward.local.cloud_assembly import Assembly
from stepward.local.secret_store import stock

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_cloudformation.type_defs import StackTypeDef

ACCOUNT = "000000000000"
POLL_S = 0.2
FINAL = ("CREATE_COMPLETE", "UPDATE_COMPLETE")
UNUSABLE = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")
CAPABILITIES: Any = ["CAPABILITY_IAM", "CAPABILITY_NAMED_IAM", "CAPABILITY_AUTO_EXPAND"]


class DeploymentFailed(StepwardError):
    """The stack could not be deployed; the message lists the resources that failed and why."""


def deploy(
    folder: Path,
    endpoint: str,
    *,
    progress: Callable[[str], None] = lambda _: None,
    within_s: float = 120,
) -> Mapping[str, str]:
    """Create or update the stack from the assembly in `folder`; returns its outputs, raises DeploymentFailed.

    Calls `progress` with each new status.
    """
    assembly = Assembly(folder, _resolve)
    stacks: CloudFormationClient = boto3.client("cloudformation", **access(endpoint))
    try:
        progress("uploading")
        _bootstrap(assembly, endpoint)
        _upload(assembly, endpoint)
        stock(assembly.template, endpoint)
        if not _is_deployed(stacks, assembly):
            _apply(stacks, assembly, endpoint)
        stack = _settled(stacks, assembly.stack_name, progress, monotonic() + within_s)
    except (BotoCoreError, ClientError) as error:
        raise DeploymentFailed(f"{assembly.stack_name} cannot be deployed: {error}") from error
    finally:
        stacks.close()
    return {it["OutputKey"]: it["OutputValue"] for it in stack.get("Outputs", [])}


def _resolve(name: str) -> str:
    values = {"AWS::Partition": "aws", "AWS::AccountId": ACCOUNT, "AWS::Region": REGION}
    for pseudo, value in values.items():
        name = name.replace(f"${{{pseudo}}}", value)
    return name


def _bootstrap(assembly: Assembly, endpoint: str) -> None:
    # Apart from the bucket, the template needs only the version of `cdk bootstrap`.
    client = boto3.client("ssm", **access(endpoint))
    for name, version in assembly.bootstrap.items():
        client.put_parameter(Name=name, Value=version, Type="String", Overwrite=True)
    client.close()


def _upload(assembly: Assembly, endpoint: str) -> None:
    client = boto3.client("s3", **access(endpoint))
    for bucket in {asset.bucket for asset in assembly.assets}:
        client.create_bucket(Bucket=bucket)
    for asset in assembly.assets:
        client.put_object(Bucket=asset.bucket, Key=asset.key, Body=asset.content())
    client.close()


def _is_deployed(stacks: CloudFormationClient, assembly: Assembly) -> bool:
    # CloudFormation refuses an update that changes nothing, with an error that only its text tells from others.
    stack = _find(stacks, assembly.stack_name)
    if not stack or stack["StackStatus"] not in FINAL:
        return False
    deployed = stacks.get_template(StackName=assembly.stack_name, TemplateStage="Original")["TemplateBody"]
    return bool(deployed == json.loads(assembly.template))


def _apply(stacks: CloudFormationClient, assembly: Assembly, endpoint: str) -> None:
    present = _find(stacks, assembly.stack_name)
    if present and present["StackStatus"] in UNUSABLE:
        stacks.delete_stack(StackName=assembly.stack_name)
        stacks.get_waiter("stack_delete_complete").wait(StackName=assembly.stack_name, WaiterConfig={"Delay": 1})
        present = None
    template = assembly.template_asset
    arguments: Any = {
        "StackName": assembly.stack_name,
        "TemplateURL": f"{endpoint}/{template.bucket}/{template.key}",
        "Parameters": [{"ParameterKey": k, "ParameterValue": v} for k, v in assembly.parameters.items()],
        "Capabilities": CAPABILITIES,
    }
    (stacks.update_stack if present else stacks.create_stack)(**arguments)


def _settled(
    stacks: CloudFormationClient, name: str, progress: Callable[[str], None], give_up_at: float
) -> StackTypeDef:
    reported = ""
    while monotonic() < give_up_at:
        stack = _find(stacks, name)
        status = stack["StackStatus"] if stack else "DELETED"
        if status != reported:
            progress(reported := status)
        if stack and status in FINAL:
            return stack
        if not status.endswith("_IN_PROGRESS"):
            break
        sleep(POLL_S)
    raise DeploymentFailed(f"{name} is {reported}: {_failures(stacks, name)}")


def _failures(stacks: CloudFormationClient, name: str) -> str:
    events = stacks.describe_stack_events(StackName=name)["StackEvents"]
    reasons = [
        f"\n  {it['LogicalResourceId']} ({it['ResourceType']}): {it.get('ResourceStatusReason', 'no reason given')}"
        for it in reversed(events)
        if it["ResourceStatus"].endswith("_FAILED")
    ]
    return "".join(reasons) or "no resource failed; it may only need more time"


def _find(stacks: CloudFormationClient, name: str) -> StackTypeDef | None:
    pages = stacks.get_paginator("describe_stacks").paginate()
    return next((it for page in pages for it in page["Stacks"] if it["StackName"] == name), None)
