"""The demonstration's stack on a local cloud of its own, for instruments that disturb it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from orders.demo.run import deployed
from orders.demo.stage import Stage
from stepward.local.server import Server
from stepward.local.services import Services
from tests.lab.results import ROOT

SAMPLES = ROOT / "events" / "orders"
COME_BACK_AFTER_S = 30
"""Visibility timeout of the engine's queues: the messages of a killed function come back within the run."""
SETTINGS = {"complete_within_ms": 12_000, "lease_ms": 10_000, "event_attempts": 100, "ledger_timeout_s": 30}


@dataclass(frozen=True, slots=True)
class Scene:
    """A deployment, the process of the cloud that runs its functions, and the services that these call."""

    stage: Stage
    cloud: Server
    services: Services

    def hasten(self) -> None:
        """Let the messages of killed functions come back sooner than in an account."""
        names, sqs = self.stage.deployment, self.stage.sqs
        queues = (names.orders_queue_url, names.scheduler_queue_url, names.responses_queue_url, names.ledgers_queue_url)
        for url in queues:
            sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": str(COME_BACK_AFTER_S)})


@contextmanager
def scene(
    console: Console,
    settings: Mapping[str, object],
    functions_reach: Callable[[str], AbstractContextManager[str]] = nullcontext,
) -> Iterator[Scene]:
    """See `deployed`; nothing is left behind."""
    with (
        TemporaryDirectory(prefix="stepward-") as folder,
        Services(Path(folder) / "ledger.sqlite") as services,
        deployed(ROOT, Path(folder), services, console, settings, functions_reach=functions_reach) as (stage, cloud),
    ):
        yield Scene(stage, cloud, services)
