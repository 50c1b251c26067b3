"""O2: three hundred orders in Error on the local cloud run again, though Ctrl-C ends the first run in its middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from time import monotonic, sleep  # noqa: TID251 -- the functions under test run in other processes

import pytest
from rich.console import Console

from orders.demo.run import deployed
from orders.demo.stage import Stage
from orders.fulfilment import fulfilment
from stepward.app.scheduler.audit_log import AuditLog
from stepward.local.access import REGION
from stepward.local.secret_store import demanded
from stepward.local.services import EVERYONE, Fault, FaultKind, Services
from stepward.project import Project

pytestmark = [pytest.mark.cloud, pytest.mark.lab]

ROOT = Project.here().root
COUNT, SETTINGS = 300, {"complete_within_ms": 60_000}
COMMAND = ["resubmit", "--where", "step=charge reason~declined", "--name", "bank", "--json"]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stage, Services]]:
    """The example's stack with its agents, whose bank declines every charge."""
    folder = tmp_path_factory.mktemp("mending")
    with (
        Services(folder / "ledger.sqlite", secrets=demanded(fulfilment.agents)) as services,
        deployed(ROOT, folder, services, Console(quiet=True), SETTINGS) as (stage, _),
        stage.supervised(),
    ):
        services.script.add(Fault("payments", EVERYONE, FaultKind.DECLINE, None))
        order = json.loads((ROOT / "events" / "orders" / "order.json").read_text())
        stage.send([json.dumps(order | {"orderId": f"ord-{number}"}) for number in range(COUNT)])
        yield stage, services


def states(stage: Stage) -> Counter[str]:
    return Counter(task.process_state.value for task in stage.tasks().values())


def eventually(look: Callable[[], bool], what: Callable[[], object]) -> None:
    give_up_at = monotonic() + 300
    while not look():
        assert monotonic() < give_up_at, what()
        sleep(0.2)


def typed(stage: Stage, words: Sequence[str]) -> subprocess.Popen[str]:
    own = {"STEPWARD_ENDPOINT": stage.endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    command = [sys.executable, "-c", "from stepward.cli.main import main; main()", *words]
    env = os.environ | own | {"AWS_DEFAULT_REGION": REGION}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)  # noqa: S603 - our own command


def test_three_hundred_orders_run_again_each_once(scene: tuple[Stage, Services]) -> None:
    """O2: at a rate, stopped by SIGINT, gone on with; each effect stands once, each audit log names the bulk once."""
    stage, services = scene
    eventually(lambda: states(stage) == {"Error": COUNT}, lambda: states(stage))
    services.script.clear()

    first = typed(stage, [*COMMAND, "--why", "the bank is back", "--rate", "5"])
    eventually(lambda: states(stage)["Error"] < COUNT, lambda: states(stage))
    first.send_signal(signal.SIGINT)
    out, err = first.communicate(timeout=60)
    stopped = json.loads(out)
    assert (first.returncode, "stopping" in err, "Traceback" in err) == (1, True, False)
    assert stopped["left"] > 0
    assert stopped["applied"] + stopped["asked"] + stopped["left"] == COUNT

    second = typed(stage, [*COMMAND, "--why", "the bank is back", "--rate", "20"])
    out, err = second.communicate(timeout=300)
    went_on = json.loads(out)
    eventually(lambda: states(stage) == {"Processed": COUNT}, lambda: states(stage))
    assert went_on["left"] == went_on["held"] == 0
    assert went_on["applied"] + went_on["asked"] + went_on["refused"] == went_on["count"] < COUNT

    effects = Counter(effect.key for effect in services.ledger.effects())
    assert effects == {f"ord-{number}/{step}": 1 for number in range(COUNT) for step in ("reserve", "charge", "ship")}
    logs = AuditLog(stage.breakers.shared_records)
    for number in range(COUNT):
        applied = [entry for entry in logs.of(f"ord-{number}") if entry.applied]
        assert [(entry.command, entry.why) for entry in applied] == [("resubmit", "the bank is back (bulk bank)")]
