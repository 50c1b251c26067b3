"""O2: dead letters go back at a rate, until the run is stopped; another run goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

from stepward.domain.coordination.breaker import AgentPause
from stepward.domain.errors import Transient
from stepward.operator.bulk import Bulk, Pace, Progress
from stepward.operator.connection import Connection
from stepward.operator.dead_letters.redrive import Redrive, Wanted
from stepward.stack_outputs import DeadLetters
from stepward.testing.sqs.queue import MemoryQueue
from tests.factories import order_text
from tests.unit.cli_dead_letters.memory_sqs import MemorySqs
from tests.unit.operator.deployed import Deployed


@dataclass
class Desk:
    """Twelve orders in a dead-letter queue; `sent` is what went back, `fails_at` when sending begins to fail."""

    deployed: Deployed = field(default_factory=Deployed)
    sent: list[str] = field(default_factory=list)
    seen: list[Progress] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    stop_after: int = 99
    fails_at: int = 99

    def __post_init__(self) -> None:
        self.queue = MemoryQueue(name="dead", clock=self.deployed.now)
        for number in range(12):
            self.queue.send(order_text(f"ord-{number}"))

    def run(self, **wanted: Any) -> Redrive:
        deployment = SimpleNamespace(**vars(self.deployed.connection.deployment))
        deployment.dead_letters = {"orders": DeadLetters("orders", "dead")}
        deployment.agent_queue_urls = {"payments": "orders"}
        doubles: Mapping[str, Any] = {"sqs": MemorySqs(self.queue), "sender": self, "deployment": deployment}
        connection: Connection = replace(self.deployed.connection, **doubles)
        run = Redrive(connection, "orders", Wanted(), Bulk("redrive", "july", "ada", "mended"), **wanted)
        stop = lambda: len(self.seen) >= self.stop_after  # noqa: E731 - as short as what it says
        run.run(1000, Pace(4, self.tell, stop, self.deployed.now, self.wait))
        return run

    def tell(self, now: Progress) -> None:
        self.seen.append(now)
        self.times.append(self.deployed.now())

    def wait(self, seconds: float) -> None:
        self.deployed.time[0] += round(seconds * 1000)

    def send(self, _url: str, outgoing: list[Any]) -> None:
        if len(self.sent) >= self.fails_at:
            raise Transient("throttled")
        self.sent += [each.body for each in outgoing]


def test_a_redrive_keeps_its_rate_and_says_how_far_it_is() -> None:
    desk = Desk()
    run = desk.run()
    assert (run.left, len(run.done), desk.queue.bodies) == ("", 12, [])
    assert [(each.total, each.sent) for each in desk.seen] == [(12, number + 1) for number in range(12)]
    assert [time - desk.times[0] for time in desk.times] == [250 * number for number in range(12)]


@pytest.mark.parametrize("change", [{"stop_after": 5}, {"fails_at": 5}])
def test_a_redrive_that_ends_early_says_so_and_another_goes_on(change: dict[str, Any]) -> None:
    """O2: what it had received and not sent is there again at once; each message goes back once."""
    desk = Desk(**change)
    run = desk.run()
    assert (len(run.done), desk.queue.waiting, desk.queue.in_flight) == (5, 7, 0)
    assert run.left
    desk.stop_after = desk.fails_at = 99
    assert not desk.run().left
    assert set(Counter(desk.sent).values()) == {1}
    assert len(desk.sent) == 12
    (entry,) = desk.deployed.connection.audit_log.of("ord-11")
    assert (entry.command, entry.who, entry.why) == ("redrive orders", "ada", "mended (bulk july)")


def test_a_failure_before_anything_was_sent_is_the_commands() -> None:
    with pytest.raises(Transient):
        Desk(fails_at=0).run()


def test_requests_of_an_agent_that_leaves_its_service_alone_are_held_back() -> None:
    """O2: a redrive respects pauses and breakers."""
    desk = Desk()
    breakers = desk.deployed.connection.breakers
    breakers.pause("payments", AgentPause("eve", "strike", 1))
    assert {action for _, action in desk.run().done} == {"held"}
    breakers.resume("payments", desk.deployed.now())
    assert {action for _, action in desk.run().done} == {"sent"}
