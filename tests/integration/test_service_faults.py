import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import urllib3

from stepward.local.services import Fault, FaultKind, Services
from stepward.local.services.peer import PeerSparedError, killable_peer
from tests.integration.conftest import Client

KEY = "o-1/charge"
ONE_CALL = """
import sys, urllib3
headers = {"Content-Type": "application/json", "Idempotency-Key": sys.argv[2], "Fence": "1"}
urllib3.request("POST", sys.argv[1] + "/payments/charge", body="{}", headers=headers, retries=False)
"""


def misbehave(client: Client, kind: FaultKind, target: str = "o-1", **how: Any) -> None:
    client.services.misbehave(Fault("payments", target, kind, **how))


def journal(client: Client) -> list[tuple[str, int, str]]:
    return [(entry.outcome, entry.status, entry.fault) for entry in client.services.ledger.entries()]


def test_a_service_fails_as_often_as_scripted_and_then_works(client: Client) -> None:
    misbehave(client, FaultKind.FAIL, times=2)
    answers = [client.call(KEY)[0] for _ in range(3)]
    assert answers == [503, 503, 200]
    assert journal(client) == [("unavailable", 503, "fail"), ("unavailable", 503, "fail"), ("done", 200, "")]


def test_the_fence_of_a_call_that_failed_counts(client: Client) -> None:
    """S6: once the successor has arrived, its predecessor is a zombie, even if nothing has happened yet."""
    misbehave(client, FaultKind.FAIL)
    client.call(KEY, fence=2)
    assert client.call(KEY, fence=1) == (409, {"code": "stale_fence"})
    assert client.services.ledger.effects() == []


def test_a_fault_concerns_one_order_at_one_service(client: Client) -> None:
    misbehave(client, FaultKind.FAIL, times=None)
    assert client.call("o-10/charge")[0] == 200
    assert client.call("o-1/reserve", path="inventory/reserve")[0] == 200
    assert client.call("o-1/charge/undo", path="payments/refund", undo_of=KEY)[0] == 503


def test_a_fault_can_concern_one_key_alone(client: Client) -> None:
    misbehave(client, FaultKind.FAIL, KEY)
    assert client.call("o-1/charge/undo", path="payments/refund", undo_of="o-1/other")[0] == 200
    assert client.call(KEY)[0] == 503


def test_a_declined_call_works_once_its_cause_is_fixed(client: Client) -> None:
    """S7: the operator resubmits under the same key."""
    misbehave(client, FaultKind.DECLINE, times=None)
    for _ in range(2):
        assert client.call(KEY) == (422, {"code": "declined"})
    client.services.behave("payments", "o-1")
    assert client.call(KEY)[0] == 200


def test_faults_happen_in_the_order_in_which_they_were_scripted(client: Client) -> None:
    misbehave(client, FaultKind.FAIL)
    misbehave(client, FaultKind.DECLINE, KEY)
    assert [client.call(KEY)[0] for _ in range(3)] == [503, 422, 200]


def test_a_service_that_hangs_drops_the_connection_without_effect(client: Client) -> None:
    misbehave(client, FaultKind.HANG, seconds=0.1)
    with pytest.raises(urllib3.exceptions.ProtocolError):
        client.call(KEY)
    assert client.services.ledger.effects() == []
    assert client.call(KEY)[0] == 200
    assert journal(client) == [("hung", 0, "hang"), ("done", 200, "")]


def test_stopping_drops_a_call_that_hangs(tmp_path: Path) -> None:
    with urllib3.PoolManager() as pool, ThreadPoolExecutor(1) as thread:
        services = Services(tmp_path / "ledger.db").start()
        services.misbehave(Fault("payments", "o-1", FaultKind.HANG, seconds=3600))
        call = thread.submit(Client(services, pool).call, KEY)
        while not services.ledger.entries():
            assert not call.done()
        services.stop()
        with pytest.raises(urllib3.exceptions.ProtocolError):
            call.result(timeout=10)


def test_a_slow_service_is_late_and_then_works(client: Client) -> None:
    misbehave(client, FaultKind.SLOW, seconds=0.1)
    assert client.call(KEY)[0] == 200
    assert journal(client) == [("done", 200, "slow")]


def test_a_slow_call_that_was_superseded_has_no_effect(client: Client) -> None:
    """S6: the fence is checked again in the transaction of the effect."""
    misbehave(client, FaultKind.SLOW, seconds=1)
    taken = client.services.script
    with ThreadPoolExecutor(1) as thread:
        zombie = thread.submit(client.call, KEY, fence=1)
        while taken.pending("payments", "o-1"):
            assert not zombie.done()
        assert client.call(KEY, fence=2)[0] == 200
        assert zombie.result() == (409, {"code": "stale_fence"})
    assert [effect.fence for effect in client.services.ledger.effects()] == [2]


def test_a_cut_connection_leaves_the_effect_and_no_answer(client: Client) -> None:
    """I4: the answer is lost, the retry gets it, the effect stays single."""
    misbehave(client, FaultKind.CUT_AFTER_EFFECT, times=2)
    for _ in range(2):
        with pytest.raises(urllib3.exceptions.ProtocolError) as cut:
            client.call(KEY)
        assert type(cut.value.args[1]) is ConnectionResetError
    assert client.call(KEY)[0] == 200
    assert len(client.services.ledger.effects(KEY)) == 1
    cuts = "cut_after_effect"
    assert journal(client) == [("done", 0, cuts), ("replayed", 0, cuts), ("replayed", 200, "")]


def test_a_caller_dies_after_its_effect_and_the_retry_does_not_double_it(client: Client) -> None:
    """S11, I4: the process at the other end of the connection is killed, and only that one."""
    misbehave(client, FaultKind.DIE_AFTER_EFFECT)
    command = [sys.executable, "-c", ONE_CALL, client.services.endpoint, KEY]
    with subprocess.Popen(command) as victim:  # noqa: S603 - our own interpreter and script
        assert victim.wait(20) == -signal.SIGKILL
    assert client.call(KEY)[0] == 200
    assert len(client.services.ledger.effects(KEY)) == 1
    first, second = client.services.ledger.entries(KEY)
    assert (first.outcome, first.fault, first.note) == ("done", "die_after_effect", f"killed: {victim.pid}")
    assert second.outcome == "replayed"


def test_the_server_does_not_kill_itself(client: Client) -> None:
    misbehave(client, FaultKind.DIE_AFTER_EFFECT)
    with pytest.raises(urllib3.exceptions.ProtocolError):
        client.call(KEY)
    assert client.services.ledger.entries()[0].note.startswith("spared: the caller is this process")
    assert len(client.services.ledger.effects(KEY)) == 1


@pytest.mark.parametrize(
    ("theirs", "ours", "reason"),
    [(("192.0.2.1", 4000), ("192.0.2.2", 80), "another machine"), (("127.0.0.1", 1), ("127.0.0.1", 2), "0 processes")],
)
def test_a_caller_elsewhere_or_not_there_is_spared(theirs: tuple[str, int], ours: tuple[str, int], reason: str) -> None:
    with pytest.raises(PeerSparedError, match=reason):
        killable_peer(theirs, ours)


def test_faults_can_be_scripted_over_http(client: Client) -> None:
    fault = {"service": "payments", "target": "o-1", "kind": "decline", "times": 1}
    assert client.post("/_faults", fault)[0] == 200
    assert client.call(KEY)[0] == 422
    assert client.call(KEY)[0] == 200


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "explode"}, "explode"),
        ({"times": 0}, "times"),
        ({"times": True}, "times"),
        ({"seconds": -1}, "seconds"),
        ({"seconds": "long"}, "seconds"),
        ({"service": ""}, "service"),
        ({"target": 7}, "target"),
        ({"order": "o-1"}, "unknown: order"),
    ],
)
def test_a_malformed_fault_is_refused_with_the_reason(client: Client, change: dict[str, object], reason: str) -> None:
    fault = {"service": "payments", "target": "o-1", "kind": "fail", **change}
    status, answer = client.post("/_faults", fault)
    assert (status, answer["code"]) == (400, "fault_wrong")
    assert reason in answer["reason"]
    assert client.call(KEY)[0] == 200


def test_no_thread_and_no_socket_is_left_behind(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with urllib3.PoolManager() as pool:
        with Services(tmp_path / "ledger.db") as services:
            Client(services, pool).call(KEY)
            assert set(threading.enumerate()) - before
        assert not set(threading.enumerate()) - before
        with pytest.raises(urllib3.exceptions.NewConnectionError):
            Client(services, urllib3.PoolManager()).call(KEY)
