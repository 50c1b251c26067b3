"""A return, end to end: each kind of step, in the stack that an account would get, deployed on this machine."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic, sleep  # noqa: TID251 -- the functions under test run in other processes

import pytest
from rich.console import Console

from orders import app
from orders.demo.run import deployed
from stepward.adapters.sqs.delivery import Outgoing
from stepward.adapters.sqs.queues import SqsSender
from stepward.domain.messages import OPERATORS, SignalGiven
from stepward.local.secret_store import demanded
from stepward.local.services import Services
from stepward.project import Project
from stepward.wire.messages import encode

pytestmark = [pytest.mark.cloud, pytest.mark.long]

ROOT = Project.here().root
SAMPLES = ROOT / "events" / "returns"
KEY = "returns~~ret-1001"
EFFECTS = ["send_label", "pay_back", "close_return"]


def eventually(look: Callable[[], bool]) -> None:
    give_up_at = monotonic() + 90
    while not look():
        assert monotonic() < give_up_at
        sleep(0.1)


def test_a_return_goes_from_the_door_to_its_end(tmp_path: Path) -> None:
    """W1 to W4: a submitter's signal, an operator's, a timer, a step that is skipped; none of it by hand."""
    sample = json.loads((SAMPLES / "return.json").read_text())
    with (
        Services(tmp_path / "ledger.sqlite", secrets=demanded(app.agents)) as services,
        deployed(ROOT, tmp_path, services, Console(quiet=True), {}) as (stage, _),
        stage.supervised(),
    ):

        def stands(step: str, state: str) -> bool:
            task = stage.tasks().get(KEY)
            return task is not None and task.steps[step].process_state == state

        now = datetime.now(UTC)  # noqa: TID251 -- the timer is a real one
        ends = now + timedelta(seconds=4)
        sample |= {"submittedAt": now.isoformat(), "coolingOffEnds": ends.isoformat()}
        stage.send([json.dumps(sample)])
        eventually(lambda: KEY in stage.tasks())
        stage.send([(SAMPLES / "goods.json").read_text()])
        eventually(lambda: stands("approval", "Processing"))
        approval = SignalGiven(KEY, "approval", "a-1", {"by": "ann"}, who="ann", door=OPERATORS)
        SqsSender(stage.sqs).send(stage.deployment.scheduler_queue_url, [Outgoing(encode(approval))])
        eventually(lambda: stands("close_return", "Processed"))
        assert stage.newest_rejects() == []
        effects = services.ledger.effects()
    assert [effect.key for effect in effects] == [f"{KEY}/{step}" for step in EFFECTS]
    assert effects[1].at >= ends.timestamp() * 1000
