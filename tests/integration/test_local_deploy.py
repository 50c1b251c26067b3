import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep  # noqa: TID251 -- the functions under test run in other processes
from typing import Any
from uuid import uuid4

import boto3
import psutil
import pytest

from stepward.domain.errors import Transient
from stepward.local.access import Access, access
from stepward.local.cloud import local_cloud
from stepward.local.deploy import DeploymentFailed, deploy
from stepward.local.server import Server
from stepward.local.wake import wake

pytestmark = pytest.mark.cloud

OUTPUTS = {"QueueUrl": "Queue", "TableName": "Table", "FunctionName": "Function"}
BUCKET = "cdk-assets-${AWS::AccountId}-${AWS::Region}"
HANDLER = """
import os
import botocore.session

table = botocore.session.get_session().create_client("dynamodb")

def handler(event, context):
    for record in event["Records"]:
        item = {"Id": {"S": record["body"]}, "From": {"S": os.environ["GREETING"]}}
        table.put_item(TableName=os.environ["TABLE"], Item=item)
    return {"batchItemFailures": []}
"""


def allowing(action: str, **more: object) -> dict[str, object]:
    """A policy document that allows one thing."""
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, **more}]}


WRITE = allowing("dynamodb:PutItem", Resource={"Fn::GetAtt": ["Table", "Arn"]})
ROLE = {
    "AssumeRolePolicyDocument": allowing("sts:AssumeRole", Principal={"Service": "lambda.amazonaws.com"}),
    "Policies": [{"PolicyName": "write", "PolicyDocument": WRITE}],
}
TABLE = {
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "Id", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "Id", "KeyType": "HASH"}],
}


def template(greeting: str = "hello") -> dict[str, Any]:
    function = {
        "Runtime": "python3.13",
        "Handler": "index.handler",
        "Role": {"Fn::GetAtt": ["Role", "Arn"]},
        "Code": {"S3Bucket": {"Fn::Sub": BUCKET}, "S3Key": "code.zip"},
        "Environment": {"Variables": {"TABLE": {"Ref": "Table"}, "GREETING": greeting}},
    }
    mapping = {
        "FunctionName": {"Ref": "Function"},
        "EventSourceArn": {"Fn::GetAtt": ["Queue", "Arn"]},
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
    }
    return {
        "Parameters": {"BootstrapVersion": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/try/version"}},
        "Resources": {
            "Queue": {"Type": "AWS::SQS::Queue", "Properties": {"VisibilityTimeout": 30}},
            "Table": {"Type": "AWS::DynamoDB::Table", "Properties": TABLE},
            "Role": {"Type": "AWS::IAM::Role", "Properties": ROLE},
            "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
            "Mapping": {"Type": "AWS::Lambda::EventSourceMapping", "Properties": mapping},
        },
        "Outputs": {name: {"Value": {"Ref": part}} for name, part in OUTPUTS.items()},
    }


def broken_template() -> dict[str, Any]:
    body = template()
    body["Resources"]["Queue"]["Properties"]["VisibilityTimeout"] = 50000
    return body


def write_assembly(folder: Path, stack: str, body: dict[str, Any]) -> Path:
    (folder / "code").mkdir(parents=True, exist_ok=True)
    (folder / "code" / "index.py").write_text(HANDLER)
    (folder / "stack.json").write_text(json.dumps(body))
    files = {"code.zip": ("code", "zip"), f"{stack}.json": ("stack.json", "file")}
    there = {key: {"destinations": {"here": {"bucketName": BUCKET, "objectKey": key}}} for key in files}
    assets = {key: {"source": {"path": path, "packaging": kind}, **there[key]} for key, (path, kind) in files.items()}
    (folder / "assets.json").write_text(json.dumps({"files": assets}))
    bootstrap = {"bootstrapStackVersionSsmParameter": "/try/version", "requiresBootstrapStackVersion": 6}
    artifacts = {
        stack: {"type": "aws:cloudformation:stack", "properties": {"templateFile": "stack.json"}},
        "assets": {"type": "cdk:asset-manifest", "properties": {"file": "assets.json"} | bootstrap},
    }
    (folder / "manifest.json").write_text(json.dumps({"artifacts": artifacts}))
    return folder


def eventually(look: Callable[[], Any]) -> Any:
    give_up_at = monotonic() + 15
    while monotonic() < give_up_at:
        if found := look():
            return found
        sleep(0.05)
    raise AssertionError("it never came")


@pytest.fixture
def stack() -> str:
    return f"s-{uuid4().hex[:8]}"


def test_a_deployed_function_works_off_its_queue(
    cloud: Server, cloud_access: Access, tmp_path: Path, stack: str
) -> None:
    seen: list[str] = []

    outputs = deploy(write_assembly(tmp_path, stack, template()), cloud.endpoint, progress=seen.append)

    assert seen[0] == "uploading"
    assert seen[-1] == "CREATE_COMPLETE"
    boto3.client("sqs", **cloud_access).send_message(QueueUrl=outputs["QueueUrl"], MessageBody="order-1")
    table = boto3.client("dynamodb", **cloud_access)
    item = eventually(lambda: table.get_item(TableName=outputs["TableName"], Key={"Id": {"S": "order-1"}}).get("Item"))
    assert item["From"] == {"S": "hello"}


def test_a_function_may_do_only_what_its_role_allows(
    cloud: Server, cloud_access: Access, tmp_path: Path, stack: str
) -> None:
    body = template()
    body["Resources"]["Role"]["Properties"] = {key: value for key, value in ROLE.items() if key != "Policies"}
    outputs = deploy(write_assembly(tmp_path, stack, body), cloud.endpoint)

    event = {"Records": [{"body": "order-1"}]}
    functions = boto3.client("lambda", **cloud_access)
    answer = functions.invoke(FunctionName=outputs["FunctionName"], Payload=json.dumps(event).encode())

    assert b"not authorized to perform: dynamodb:PutItem" in answer["Payload"].read()


def test_functions_that_run_die_with_their_cloud(tmp_path: Path, stack: str) -> None:
    with local_cloud(log=tmp_path / "log") as server:
        outputs = deploy(write_assembly(tmp_path / "out", stack, template()), server.endpoint)
        boto3.client("sqs", **access(server.endpoint)).send_message(QueueUrl=outputs["QueueUrl"], MessageBody="any")
        functions = eventually(lambda: psutil.Process(server.pid).children())

    _, alive = psutil.wait_procs(functions, timeout=5)
    assert alive == []


def test_deploying_again_updates_what_changed(cloud: Server, cloud_access: Access, tmp_path: Path, stack: str) -> None:
    before = deploy(write_assembly(tmp_path, stack, template()), cloud.endpoint)

    after = deploy(write_assembly(tmp_path, stack, template("goodbye")), cloud.endpoint)

    assert after == before
    functions = boto3.client("lambda", **cloud_access)
    settings = functions.get_function_configuration(FunctionName=after["FunctionName"])
    assert settings["Environment"]["Variables"]["GREETING"] == "goodbye"


def test_deploying_the_same_again_changes_nothing(cloud: Server, tmp_path: Path, stack: str) -> None:
    folder = write_assembly(tmp_path, stack, template())
    first = deploy(folder, cloud.endpoint)
    seen: list[str] = []

    assert deploy(folder, cloud.endpoint, progress=seen.append) == first
    assert seen == ["uploading", "CREATE_COMPLETE"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (broken_template(), r"Queue \(AWS::SQS::Queue\): .*VisibilityTimeout"),
        ({"Resources": {"A": {"Type": "AWS::Nowhere::Thing"}}}, "AWS::Nowhere::Thing"),
    ],
    ids=["a resource fails", "the template is refused outright"],
)
def test_a_template_that_fails_shows_the_reason(
    cloud: Server, tmp_path: Path, stack: str, body: dict[str, Any], reason: str
) -> None:
    with pytest.raises(DeploymentFailed, match=reason):
        deploy(write_assembly(tmp_path, stack, body), cloud.endpoint)


def test_a_failed_stack_can_be_deployed_once_it_is_repaired(cloud: Server, tmp_path: Path, stack: str) -> None:
    with pytest.raises(DeploymentFailed):
        deploy(write_assembly(tmp_path, stack, broken_template()), cloud.endpoint)

    assert deploy(write_assembly(tmp_path, stack, template()), cloud.endpoint)["TableName"]


def test_waking_a_function_that_fails_says_so(cloud: Server, cloud_access: Access, tmp_path: Path, stack: str) -> None:
    outputs = deploy(write_assembly(tmp_path, stack, template()), cloud.endpoint)

    with pytest.raises(Transient, match="Records"):
        wake(boto3.client("lambda", **cloud_access), outputs["FunctionName"])


def test_waking_a_function_that_is_not_there_says_so(cloud_access: Access) -> None:
    with pytest.raises(Transient, match="cannot be invoked"):
        wake(boto3.client("lambda", **cloud_access), "nobody")
