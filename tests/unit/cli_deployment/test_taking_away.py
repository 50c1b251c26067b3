"""Operations and queues are taken away only once nothing needs them; until then a deployment says what is left."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from stepward.cli.deploy_check import command
from stepward.cli.deploy_check.change import Change
from stepward.cli.deploy_check.draining import draining
from stepward.cli.deploy_check.in_flight import InFlight
from stepward.cli.main import app
from tests.unit.cli_deployment.changes import FILE, SETTINGS, FakeFacts, refused, stack

SERVED = {"payments": ["charge", "refund"], "shipping": ["ship"]}
CHARGE, REFUND = frozenset({("payments", "charge")}), frozenset({("payments", "refund")})
NEEDED = {("fulfilment", 3, CHARGE | REFUND): 11, ("fulfilment", 3, REFUND): 1, ("returns", 1, frozenset()): 5}


def renamed(before: list[str], *after: str, apart: str = "", found: InFlight | None = None) -> Change:
    """A change of the workflows, the default one first; `apart` is one that tells customers apart from now on."""
    old = {"served": SERVED, "workflows": before}
    new = {"served": SERVED, "workflows": list(after), "perCustomer": [apart] if apart else []}
    return Change(stack(SETTINGS, old, {}), stack(SETTINGS, new, {}), FakeFacts(in_flight=found or InFlight({})), FILE)


def moved(old: str, new: str) -> str:
    return (
        f"the default workflow changes from {old} to {new}: orders keep the keys that they have, so those of {old} "
        f"would be taken for orders of {new}, and those of {new} would not be found; write default={old}"
    )


def taken_away(
    found: InFlight | None = None,
    *,
    served: Mapping[str, Any] | None = None,
    draining: Mapping[str, Any] | None = None,
    before: Mapping[str, Any] | None = None,
    environment: str = "dev",
    **after: Any,
) -> Change:
    """A change after which agents serve less than SERVED, with `draining` and the settings `before` deployed today."""
    settings = {**SETTINGS, "environment": environment}
    return Change(
        stack({**settings, **(before or {})}, {"served": SERVED, "draining": draining or {}}, {}),
        stack({**settings, **after}, {"served": {"shipping": ["ship"]} if served is None else served}, {}),
        FakeFacts(in_flight=found or InFlight({})),
        FILE,
    )


@pytest.mark.parametrize(
    ("about", "question", "reason"),
    [
        (
            taken_away(InFlight(NEEDED)),
            "in-flight",
            (
                "12 orders of fulfilment version 3 still need payments.charge, payments.refund; keep them in "
                "draining=[...] of the workflow, or wait"
            ),
        ),
        (
            taken_away(InFlight({("fulfilment", 3, CHARGE): 1}), served={"payments": ["refund"], "shipping": ["ship"]}),
            "in-flight",
            (
                "1 order of fulfilment version 3 still needs payments.charge; keep it in draining=[...] of the "
                "workflow, or wait"
            ),
        ),
        (
            taken_away(InFlight({}, more=True)),
            "in-flight",
            (
                "more orders are in flight than were read, and any of them may need payments.charge, payments.refund; "
                "wait"
            ),
        ),
        (
            taken_away(InFlight({}, unreadable="1042: it lacks steps of its plan: charge")),
            "in-flight",
            (
                "an order in flight cannot be read, and may need payments.charge, payments.refund (1042: it lacks "
                "steps of its plan: charge); repair it, or wait"
            ),
        ),
        (
            taken_away(environment="prod", draining={"payments": ["refund"]}),
            "drained",
            (
                "until this deployment has ended, new orders may still begin that need payments.charge; first deploy "
                "with the steps moved from steps=[...] to draining=[...] of the workflow"
            ),
        ),
        (
            taken_away(environment="prod", served=SERVED, before={"ledger_customers": ["acme"]}),
            "drained",
            (
                "until this deployment has ended, ledgers may still arrive in the queue of acme; first deploy with "
                f"acme in draining_customers of {FILE}"
            ),
        ),
        (
            Change(
                stack(SETTINGS, {"served": SERVED, "perCustomer": ["fulfilment"]}, {}),
                stack(SETTINGS, {"served": SERVED, "perCustomer": ["orders"]}, {}),
                FakeFacts(),
                FILE,
            ),
            "keys",
            (
                "orders of workflow fulfilment are stored under workflow, customer and order id; no event or "
                "command would reach them any more; keep that name and per_customer=True"
            ),
        ),
        (
            Change(
                stack(SETTINGS, {"served": SERVED}, {}),
                stack(SETTINGS, {"served": SERVED, "perCustomer": ["fulfilment"]}, {}),
                FakeFacts(),
                FILE,
            ),
            "keys",
            (
                "orders are stored without their customer; no event or command would reach them once "
                "workflow fulfilment tells customers apart; take per_customer=True back, or give it a stack of its own"
            ),
        ),
        (renamed(["fulfilment"], "returns", "fulfilment"), "keys", moved("fulfilment", "returns")),
        (renamed(["fulfilment", "returns"], "returns"), "keys", moved("fulfilment", "returns")),
        (renamed(["fulfilment", "returns"], "returns", "gifts"), "keys", moved("fulfilment", "returns")),
        (
            renamed(["fulfilment", "returns"], "fulfilment", found=InFlight(NEEDED)),
            "in-flight",
            (
                "orders of workflow returns in flight: 5; what names it would be rejected, so no event, cancellation "
                "or command would reach them; keep it in workflows=[...], or wait"
            ),
        ),
        (
            renamed(["fulfilment", "returns"], "fulfilment", found=InFlight({}, more=True)),
            "in-flight",
            "more orders are in flight than were read, and any of them may need workflow returns; wait",
        ),
        (
            renamed(["fulfilment", "returns"], "fulfilment", "returns", apart="returns"),
            "keys",
            (
                "orders are stored without their customer; no event or command would reach them once "
                "workflow returns tells customers apart; take per_customer=True back, or give it a stack of its own"
            ),
        ),
    ],
)
def test_what_orders_in_flight_need_is_not_taken_away(about: Change, question: str, reason: str) -> None:
    """D1, W1."""
    assert refused(about) == [(question, reason)]


@pytest.mark.parametrize(
    "about",
    [
        taken_away(),
        taken_away(InFlight(NEEDED, more=True, unreadable="1042: ?"), served=SERVED),
        taken_away(InFlight({("returns", 1, frozenset({("shipping", "ship")})): 9})),
        taken_away(environment="prod", draining={"payments": ["charge", "refund"]}),
        taken_away(environment="prod", served=SERVED, before={"draining_customers": ["acme"]}),
        taken_away(
            environment="prod", served=SERVED, before={"ledger_customers": ["acme"]}, draining_customers=["acme"]
        ),
        renamed(["fulfilment"], "orders"),
        renamed(["fulfilment"], "orders", "returns", found=InFlight(NEEDED)),
        renamed(["fulfilment"], "fulfilment", "gifts", apart="gifts"),
        renamed([], "fulfilment", "gifts", apart="gifts"),
        renamed(["fulfilment", "returns"], "fulfilment", found=InFlight({("fulfilment", 3, CHARGE): 2})),
    ],
)
def test_what_nothing_needs_may_be_taken_away(about: Change) -> None:
    """D1: and where nothing goes, nothing has to be read."""
    assert refused(about) == []


def test_what_drains_says_what_is_left_of_it() -> None:
    """D1: an agent that drains as a whole with its requests; nothing is said of what is not deployed yet."""
    after = {**SETTINGS, "shards": 4, "draining_shards": 8, "draining_customers": ["acme", "bolt", "new"]}
    before = {**SETTINGS, "ledger_customers": ["acme"], "draining_customers": ["bolt"]}
    served = {**SERVED, "shipping": ["recall", "ship"]}
    away = {"payments": ["charge", "refund"], "shipping": ["recall"], "other": ["x"]}
    facts = FakeFacts(
        shards={4: 2, 7: 1, 8: 5, 3: 5},
        queues={"agent-payments": 2, "agent-payments-high": 1, "ledgers-acme": 1},
        in_flight=InFlight(NEEDED),
    )
    about = Change(
        stack(before, {"served": served}, {}),
        stack(after, {"served": {**served, "other": ["x"]}, "draining": away}, {}),
        facts,
        FILE,
    )
    expected = [
        "agent payments: 3 requests and 12 orders left",
        "shipping.recall: nothing left, you may take it away",
        "ledgers-acme: 1 ledger left",
        "ledgers-bolt: nothing left, you may take it away",
        "shards 4 to 7: 3 orders left",
    ]
    assert list(map(str, draining(about))) == expected
    facts.in_flight = InFlight({}, unreadable="1042: ?")
    assert [str(it) for it in draining(about)][:2] == [
        "agent payments: at least 3 requests left",
        "shipping.recall: at least 0 orders left",
    ]
    after["draining_shards"] = 5
    assert str(list(draining(about))[-1]) == "shard 4: 2 orders left"


BUSY = InFlight({("fulfilment", 3, CHARGE): 2})
SENTENCE = (
    "2 orders of fulfilment version 3 still need payments.charge; keep it in draining=[...] of the workflow, or wait"
)


@dataclass
class Deployment:
    """A deployment that is asked about; each further look finds the next of `changes`."""

    changes: list[Change]
    looks: int = 0

    def look(self, *_: object) -> tuple[Change, bool]:
        self.looks += 1
        return self.changes[min(self.looks, len(self.changes)) - 1], False


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Result, int]]:
    """Runs the command on these changes; its result, and how often it looked."""

    def run(changes: list[Change], *options: str) -> tuple[Result, int]:
        deployment = Deployment(changes)
        after = stack({**changes[0].after.settings, "region": ""}, {}, {})
        monkeypatch.setattr(command, "_synthesised", lambda _: after)
        monkeypatch.setattr(command, "_compared", deployment.look)
        monkeypatch.setattr(command, "sleep", lambda _: None)
        return CliRunner().invoke(app, ["deploy-check", "--env", "dev", *options]), deployment.looks

    return run


def test_a_refusal_exits_with_one_and_says_how_to_go_on(asked: Callable[..., tuple[Result, int]]) -> None:
    """D1: read aloud."""
    result, _ = asked([taken_away(BUSY)])
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"stepward: Refused (in-flight): {SENTENCE}.",
        (
            "stepward: Nothing was changed. If you mean it all the same, add --allow in-flight "
            '(make deploy ALLOW="--allow in-flight").'
        ),
        "stepward: To wait until nothing is left and go on then, add --drain (make deploy DRAIN=1).",
    ]
    result, _ = asked([taken_away(BUSY)], "--allow", "in-flight")
    assert (result.exit_code, result.stderr) == (0, f"stepward: Allowed (in-flight): {SENTENCE}.\n")


def test_programs_get_refusals_and_what_drains(asked: Callable[..., tuple[Result, int]]) -> None:
    """D1: the keys are stable."""
    result, _ = asked([taken_away(BUSY)], "--json")
    assert (result.exit_code, json.loads(result.stdout)) == (
        1,
        {
            "stack": "shop-prod",
            "new": False,
            "settings": {},
            "draining": [],
            "refusals": [{"question": "in-flight", "reason": SENTENCE, "allowed": False}],
        },
    )


def test_to_drain_waits_until_nothing_is_left(asked: Callable[..., tuple[Result, int]]) -> None:
    """D1: what no waiting ends is refused at once."""
    result, looks = asked([taken_away(BUSY), taken_away(BUSY), taken_away()], "--drain")
    assert (result.exit_code, looks, result.stderr) == (0, 3, f"stepward: Waiting (in-flight): {SENTENCE}.\n")
    result, looks = asked([taken_away(BUSY, environment="prod"), taken_away()], "--drain")
    assert (result.exit_code, looks) == (1, 1)
    assert "Refused (drained): until this deployment has ended" in result.stderr
