"""Three activities on Temporal's development server, a process of its own, in memory or with its state in a file."""

import asyncio
import sys
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from temporalio import activity, workflow
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    from tests.lab.benchmarks.peers.measuring import in_tasks

QUEUE = "orders"
LIMIT = timedelta(minutes=1)


@activity.defn
async def reserve(order: str) -> str:
    return order


@activity.defn
async def charge(order: str) -> str:
    return order


@activity.defn
async def ship(reservation: str) -> str:
    return reservation


@workflow.defn
class Fulfil:
    @workflow.run
    async def run(self, order: str) -> str:
        reservation: str = await workflow.execute_activity(reserve, order, start_to_close_timeout=LIMIT)
        await workflow.execute_activity(charge, order, start_to_close_timeout=LIMIT)
        shipment: str = await workflow.execute_activity(ship, reservation, start_to_close_timeout=LIMIT)
        return shipment


async def measure(name: str, database: str | None) -> None:
    """Start the server, with its state in file `database` or in memory, and measure it."""
    server = WorkflowEnvironment.start_local(
        dev_server_existing_path=str(Path(sys.executable).with_name("temporal")),
        dev_server_database_filename=database,
        dev_server_log_level="never",
        ui=False,
    )
    async with (
        await server as environment,
        Worker(environment.client, task_queue=QUEUE, workflows=[Fulfil], activities=[reserve, charge, ship]),
    ):

        async def order(name: str) -> None:
            done = await environment.client.execute_workflow(Fulfil.run, name, id=name, task_queue=QUEUE)
            assert done == name

        await in_tasks(name, order)


def main() -> None:
    with TemporaryDirectory(prefix="stepward-") as folder:
        asyncio.run(measure("temporal", None))
        asyncio.run(measure("temporal on disk", str(Path(folder) / "temporal.sqlite")))


if __name__ == "__main__":
    main()
