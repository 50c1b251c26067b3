"""What is known nowhere else outlasts any outage in its queue; what ends its process ends among the dead."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from aws_lambda_powertools import Logger, Metrics

from stepward.adapters.lambda_.batch import BatchWorker
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.intake import Intake
from stepward.domain.errors import Misconfigured, RetryLater, Transient
from stepward.testing.memory.task_store import MemoryRejects
from stepward.testing.memory.telemetry import MemoryTelemetry
from stepward.testing.sqs.poller import Poller
from stepward.testing.sqs.queue import MemoryQueue
from stepward_cdk.settings.settings import FUNCTION_TIMEOUT_S, MAX_RECEIVES, VISIBILITY_TIMES_TIMEOUT
from tests.factories import MINUTE, T0

HOUR, DAY = 60 * MINUTE, 24 * 60 * MINUTE
SOON = 5 * MINUTE + 1_000


@dataclass
class Line:
    """One message in a queue as it is deployed; `fails` says what happens to it at a time, in ms from its arrival.

    It has the two methods of the adapter that hides messages. `anew` counts what was sent anew.
    """

    fails: Callable[[int], Exception | None]
    now: int = T0
    anew: int = 0
    handled: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dead = MemoryQueue(name="orders-dead", clock=lambda: self.now)
        self.queue = MemoryQueue(
            name="orders",
            clock=lambda: self.now,
            visibility_timeout=VISIBILITY_TIMES_TIMEOUT * FUNCTION_TIMEOUT_S,
            dead_letters=self.dead,
            max_receive_count=MAX_RECEIVES,
        )
        self.queue.send("cancel it")

    def hide(self, _queue: str, receipt: str, seconds: int) -> None:
        self.queue.change_visibility(receipt, seconds)

    def send_anew(self, _queue: str, body: str, seconds: int) -> None:
        self.queue.send(body, delay=seconds)
        self.anew += 1

    def handle(self, _text: str) -> None:
        if error := self.fails(self.now - T0):
            raise error.with_traceback(None)  # it is raised again and again, and would grow each time
        self.handled.append(self.now - T0)

    def run(self, handler: Callable[[Mapping[str, Any], Any], Any]) -> None:
        """Receive whenever something can be received, until nothing is left."""
        poller = Poller(source=self.queue, handler=handler, clock=lambda: self.now)
        while (ready := self.queue.ready_at()) is not None:
            self.now = max(self.now, ready)
            assert self.now < T0 + 5 * DAY, "it comes again and again"
            poller.poll()


@pytest.fixture
def telemetry() -> Iterator[PowertoolsTelemetry]:
    yield PowertoolsTelemetry(Logger(service="lasting"), Metrics(namespace="Stepward", service="lasting"))
    Metrics._metrics.clear()


def worked(line: Line, telemetry: PowertoolsTelemetry) -> Line:
    intake = Intake(line.handle, MemoryRejects(), MemoryTelemetry(), lambda: 0)
    visibility: Any = line
    line.run(BatchWorker(intake, telemetry, visibility=visibility, lasting=True).answer)
    return line


@pytest.mark.parametrize("error", [Transient("throttled"), Misconfigured("no queue"), RetryLater(120, "not yet")])
@pytest.mark.parametrize("outage", [15 * MINUTE, 9 * HOUR, 4 * DAY])
def test_what_fails_for_now_outlasts_the_outage_and_is_done_soon_after(
    telemetry: PowertoolsTelemetry, outage: int, error: Exception
) -> None:
    """S22, case 13: five receives were over within a quarter of an hour."""
    line = worked(Line(lambda at: error if at < outage else None), telemetry)

    assert [at for at in line.handled if outage <= at <= outage + SOON] == line.handled != []
    assert (len(line.handled), line.dead.bodies) == (1, [])


def test_an_outage_costs_a_send_an_hour_and_a_receive_in_five_minutes(telemetry: PowertoolsTelemetry) -> None:
    tries: list[int] = []

    def fails(at: int) -> Exception | None:
        tries.append(at)
        return Transient("throttled") if at < DAY else None

    assert worked(Line(fails), telemetry).anew <= 24
    assert len(tries) < 24 * 22
    pauses = [later - earlier for earlier, later in pairwise(tries)][:20]
    assert pauses == sorted(pauses)


@pytest.mark.parametrize("error", [None, KeyError("a bug")], ids=["it ends its process", "a fault of the code"])
def test_poison_ends_among_the_dead_within_hours(telemetry: PowertoolsTelemetry, error: Exception | None) -> None:
    """S22: whoever survives a message sends it anew; nobody survives this one."""

    def dies(_event: Mapping[str, Any], _context: object) -> object:
        raise RuntimeError("Runtime exited")

    line = Line(lambda _: error)
    if error is None:
        line.run(dies)
    else:
        worked(line, telemetry)

    assert (line.anew, line.handled, line.dead.bodies) == (0, [], ["cancel it"])
    assert line.now - T0 < 6 * HOUR
