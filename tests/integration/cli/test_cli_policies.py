"""O3: IAM decides who may do what: each policy allows its commands, on a cloud that enforces it, and no call more."""

from __future__ import annotations

import json
from collections.abc import Callable
from uuid import uuid4

import boto3
import pytest
from botocore.client import BaseClient
from typer.testing import Result

from stepward.domain.coordination.breaker import AgentPause
from stepward.domain.rejects import Reject
from stepward.local.access import Access
from stepward.operator.rights.policies import RIGHTS, Policy
from tests.integration.cli.conftest import Run, Shop
from tests.integration.rights.recorded import COVERED
from tests.unit.cli.lives import Life
from tests.unit.cli_convoy.lane_lives import entry

pytestmark = pytest.mark.cloud
NO_WAIT = ("--why", "x", "--no-wait")
COMMANDS: dict[Policy, list[list[str]]] = {
    Policy.LOOK: [
        ["status"],
        ["find", "state=error"],
        ["find", "customer=x"],
        ["show", "ord-0"],
        ["list", "--needs-attention"],
        ["audit-log", "ord-0"],
        ["rejects"],
        ["rejects", "large"],
        ["agents"],
        ["dead-letters", "list"],
        ["convoy", "list"],
        ["resubmit", "--where", "state=error", "--dry-run"],
    ],
    Policy.OPERATE: [
        ["resubmit", "ord-0", *NO_WAIT],
        ["undo", "ord-0", *NO_WAIT],
        ["pause", "--where", "id=ord-0", "--why", "x"],
        ["convoy", "skip", "ord-1", "4", *NO_WAIT],
    ],
    Policy.MEND: [
        ["list"],
        ["find", "state=processed", "--scan"],
        ["pause", "--agent", "payments", "--why", "x"],
        ["resume", "--agent", "shipping"],
        ["dead-letters", "show", "responses"],
        ["dead-letters", "redrive", "responses"],
    ],
}


@pytest.fixture
def busy(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """Something for each command: an order in Error, a lane that is blocked, a large reject and a dead letter."""
    monkeypatch.setattr("stepward.operator.bulk.WITHIN_MS", 0)
    shop.store(Life("ord-0").start(0).answer("reserve", 10).answer("charge", 20, "declined"))
    first = (entry(1, "create"), entry(2, amount=5), entry(3, "modify", modifies=2, amount=6))
    shop.lane().bring(*first, entry(4, "modify", modifies=3, amount=1))
    shop.connection.rejects.keep(Reject("large", "orders", shop.connection.now(), "x", "y", "z" * 9_000))
    shop.connection.breakers.pause("shipping", AgentPause("eve", "strike", 1))
    shop.bury("responses", "{oops", json.dumps({"schemaVersion": 1, "type": "start", "orderId": "new"}))
    return shop


@pytest.fixture
def given(run: Run, cloud_access: Access, monkeypatch: pytest.MonkeyPatch) -> Callable[[Policy], Run]:
    """Run commands with the credentials of a user who has one of the policies, as `stepward policy` prints it."""
    iam = boto3.client("iam", **cloud_access)

    def user(whose: Policy) -> Run:
        name = f"user-{uuid4().hex[:8]}"
        iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName=whose, PolicyDocument=run("policy", whose).stdout)
        key = iam.create_access_key(UserName=name)["AccessKey"]
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key["AccessKeyId"])
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key["SecretAccessKey"])
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it remembers the credentials
        return run

    return user


@pytest.mark.parametrize(
    "policy", [Policy.LOOK, *(pytest.param(each, marks=pytest.mark.lab) for each in list(Policy)[1:])]
)
def test_a_policy_allows_its_commands_and_no_others(
    given: Callable[[Policy], Run], policy: Policy, busy: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O3: who may only look cannot do more, and reads which policy to ask for; no right is there that nothing uses."""
    run, called = given(policy), set[str]()
    call = vars(BaseClient)["_make_api_call"]  # every call of the SDK passes here, those of pynamodb too

    def noted(client: BaseClient, operation: str, request: object) -> object:
        called.add(COVERED.get(operation, operation))
        answer: object = call(client, operation, request)
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(BaseClient, "_make_api_call", noted)
        for words in COMMANDS[policy]:
            assert "policy" not in said(run(*words)), words
    added, before = actions(policy), [each for known in policy.included for each in actions(known)]
    assert (set(added) - called, called - set(before)) == (set(), set())

    for other, words in ((each, words) for each in set(Policy) - set(policy.included) for words in COMMANDS[each]):
        result = run(*words)
        assert (result.exit_code, "Traceback" in said(result)) == (1, False), words
        assert f"`stepward policy {other}`" in said(result), words
    if policy is Policy.LOOK:
        assert busy.received(busy.connection.deployment.scheduler_queue_url) == []


def actions(policy: Policy) -> list[str]:
    return [action for each in RIGHTS for action in each.actions if each.policy is policy]


def said(result: Result) -> str:
    return " ".join((result.stdout + result.stderr).split())
