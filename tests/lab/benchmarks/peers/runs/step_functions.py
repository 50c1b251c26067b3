"""Three states of Step Functions on moto: the speed of an emulator, which says nothing about the service's."""

import json
import os

import boto3
from moto import mock_aws

from tests.lab.benchmarks.peers.measuring import in_threads, pause

POLL_S = 0.002
MACHINE = {
    "StartAt": "reserve",
    "States": {
        "reserve": {
            "Type": "Pass",
            "Parameters": {"reservation.$": "$.order"},
            "ResultPath": "$.reserve",
            "Next": "charge",
        },
        "charge": {"Type": "Pass", "Parameters": {"charge.$": "$.order"}, "ResultPath": "$.charge", "Next": "ship"},
        "ship": {"Type": "Pass", "Parameters": {"shipment.$": "$.reserve.reservation"}, "End": True},
    },
}


def main() -> None:
    os.environ.update(AWS_ACCESS_KEY_ID="test", AWS_SECRET_ACCESS_KEY="test", AWS_DEFAULT_REGION="us-east-1")
    with mock_aws(config={"stepfunctions": {"execute_state_machine": True}}):
        client = boto3.client("stepfunctions")
        role = "arn:aws:iam::123456789012:role/bench"
        created = client.create_state_machine(name="fulfil", definition=json.dumps(MACHINE), roleArn=role)
        machine = created["stateMachineArn"]

        def order(name: str) -> None:
            started = client.start_execution(stateMachineArn=machine, name=name, input=json.dumps({"order": name}))
            while (seen := client.describe_execution(executionArn=started["executionArn"]))["status"] == "RUNNING":
                pause(POLL_S)
            assert json.loads(seen["output"]) == {"shipment": name}

        in_threads("step functions on moto", order)


if __name__ == "__main__":
    main()
