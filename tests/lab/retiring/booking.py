"""The booking application in a folder of its own, where a test changes it, and its stack on the local cloud."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from typer.testing import CliRunner, Result

from stepward.cli.main import app
from stepward.local.access import Access, access
from stepward.local.deploy import deploy
from stepward.local.server import Server
from stepward.local.synth import synthesise
from stepward.stack_outputs import Deployment

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "tests" / "lab" / "booking"
USUAL = tomllib.loads((SOURCE / "infra" / "environments" / "dev.toml").read_text())
AGENTS = tuple(USUAL["service_urls"])


@dataclass(frozen=True)
class Booking:
    """A copy of the application in `root`, checked and deployed with the settings of `env`."""

    root: Path
    cloud: Server
    env: str = "dev"

    @classmethod
    def copied(cls, folder: Path, cloud: Server, env: str = "dev") -> Booking:
        """A new copy below `folder`."""
        shutil.copytree(SOURCE, root := folder / "booking")
        for shared in ("requirements", ".venv-tools"):
            (root / shared).symlink_to(ROOT / shared)
        return cls(root, cloud, env)

    @property
    def trip(self) -> Path:
        """The module with the workflow."""
        return self.root / "functions" / "booking" / "trip.py"

    @property
    def access(self) -> Access:
        """What a client of the local cloud is made with."""
        return access(self.cloud.endpoint)

    def write(self, addresses: Mapping[str, str], **settings: Any) -> None:
        """Write the environment's file: these addresses, and what else differs from the usual settings."""
        given = {**USUAL, **settings, "service_urls": None}
        lines = [f"{name} = {json.dumps(value)}" for name, value in given.items() if value is not None]
        lines += ["[service_urls]", *(f"{name} = {json.dumps(url)}" for name, url in addresses.items())]
        (self.root / "infra" / "environments" / f"{self.env}.toml").write_text("\n".join(lines))

    def deploy(self) -> Mapping[str, str]:
        """Deploy without a question; the stack's outputs."""
        out = self.root / "cdk.out"
        synthesise(self.root, out, {"env": self.env, "platform": "local"})
        return deploy(out, self.cloud.endpoint)

    def check(self, *options: str) -> Result:
        """What the command says before a deployment."""
        words = ["deploy-check", "--env", self.env, "-c", "platform=local", "--endpoint", self.cloud.endpoint, *options]
        with chdir(self.root):
            return CliRunner().invoke(app, words)

    def send(self, outputs: Mapping[str, str], *trips: str) -> None:
        """Order these trips."""
        trip = json.loads((self.root / "trip.json").read_text())
        sqs = boto3.client("sqs", **self.access)
        for order_id in trips:
            sqs.send_message(QueueUrl=outputs["OrdersQueueUrl"], MessageBody=json.dumps(trip | {"orderId": order_id}))

    def bury(self, outputs: Mapping[str, str], queue: str) -> None:
        """Leave a message in the dead-letter queue of this queue."""
        url = Deployment.from_outputs(outputs).dead_letters[queue].dead
        fifo: Any = {"MessageGroupId": "1", "MessageDeduplicationId": "1"} if url.endswith(".fifo") else {}
        boto3.client("sqs", **self.access).send_message(QueueUrl=url, MessageBody="{}", **fifo)

    def states(self, outputs: Mapping[str, str]) -> Mapping[str, str]:
        """The state of each trip."""
        table: Any = boto3.resource("dynamodb", **self.access).Table(outputs["TasksTableName"])
        return {item["OrderID"]: item["ProcessState"] for item in table.scan()["Items"] if "Steps" in item}
