"""Three steps on the durable execution SDK for Lambda, run by its testing runner with the store in memory."""

import json
import logging

from aws_durable_execution_sdk_python import DurableContext, StepContext, durable_execution, durable_step
from aws_durable_execution_sdk_python_testing import DurableFunctionTestRunner

from tests.lab.benchmarks.peers.measuring import in_threads


@durable_step
def reserve(_: StepContext, order: str) -> dict[str, str]:
    return {"reservation": order}


@durable_step
def charge(_: StepContext, order: str) -> dict[str, str]:
    return {"charge": order}


@durable_step
def ship(_: StepContext, reservation: str) -> dict[str, str]:
    return {"shipment": reservation}


@durable_execution
def fulfil(event: dict[str, str], context: DurableContext) -> dict[str, str]:
    reserved: dict[str, str] = context.step(reserve(event["order"]))
    context.step(charge(event["order"]))
    shipped: dict[str, str] = context.step(ship(reserved["reservation"]))
    return shipped


def main() -> None:
    logging.disable(logging.ERROR)
    with DurableFunctionTestRunner(handler=fulfil) as runner:

        def order(name: str) -> None:
            done = runner.run(input=json.dumps({"order": name}))
            assert json.loads(done.result) == {"shipment": name}

        in_threads("durable", order)


if __name__ == "__main__":
    main()
