"""The scenes of docs/retiring.md: what a deployment would take away, and what is left of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stepward.cli.deploy_check.change import Change
from stepward.cli.deploy_check.in_flight import InFlight
from tests.architecture.pages.following import Scene, Scenes
from tests.unit.cli_deployment.changes import FILE, SETTINGS, FakeFacts, stack

CHARGE, SHIP = {"payments": ["charge"]}, {"shipping": ["ship"]}
BOTH, NEEDED = CHARGE | SHIP, {("fulfilment", 3, frozenset({("payments", "charge")})): 12}
QUEUE = {"Q1": {"Type": "AWS::SQS::Queue", "Properties": {}}}
KNOWN = SETTINGS | {"region": ""}


class Facts(FakeFacts):
    """An account in which the queue Q1 holds what agent payments could not do."""

    def name_of(self, logical_id: str) -> str:
        return f"{super().name_of(logical_id)}-dead"


def asked(facts: FakeFacts, before: Mapping[str, Any], after: Mapping[str, Any]) -> Scene:
    """A deployment is checked; `before` and `after` are stacks by their workflow, `resources` and `settings`."""
    both = [stack(KNOWN | it.pop("settings", {}), it, it.pop("resources", {})) for it in map(dict, (before, after))]
    change = Change(both[0], both[1], facts, FILE)
    patched = {"_check_account": lambda *_, **__: None, "_synthesised": lambda _: change.after}
    return {**patched, "_compared": lambda *_: (change, False)}


def drained() -> Iterator[Scene]:
    facts = FakeFacts(queues={"agent-payments": 3}, in_flight=InFlight(NEEDED))
    draining = {"served": BOTH, "draining": CHARGE}
    yield asked(facts, draining, draining)


def taken_away() -> Iterator[Scene]:
    """Too early, and at once."""
    yield asked(FakeFacts(in_flight=InFlight(NEEDED)), {"served": BOTH, "draining": CHARGE}, {"served": SHIP})
    yield asked(FakeFacts(), {"served": BOTH}, {"served": SHIP})


def without_its_agent() -> Iterator[Scene]:
    yield asked(Facts(queues={"Q1": 2}), {"resources": QUEUE}, {})


def fewer_shards() -> Iterator[Scene]:
    before, after = ({"settings": {"shards": 4, "draining_shards": held}} for held in (8, 0))
    yield asked(FakeFacts(shards={5: 2, 7: 14}), before, after)


SCENES: Scenes = {
    "Taking something away": drained,
    "An operation or a step": taken_away,
    "An agent": without_its_agent,
    "Shards": fewer_shards,
}
