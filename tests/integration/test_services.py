import json
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import urllib3

from stepward.local.services import Services
from tests.integration.conftest import Client

KEY = "o-1/charge"
UNDO = "o-1/charge/undo"


def outcomes(client: Client, key: str = "") -> list[str]:
    return [entry.outcome for entry in client.services.ledger.entries(key)]


def test_the_same_key_brings_the_same_answer_and_no_second_effect(client: Client) -> None:
    """I4, S5: one stable key across all attempts, each with a fence of its own."""
    first = client.call(KEY, fence=1, body={"amount": 5})
    assert first[0] == 200
    assert client.call(KEY, fence=2, body={"amount": 5}) == first
    assert [(effect.key, effect.fence) for effect in client.services.ledger.effects()] == [(KEY, 1)]
    assert outcomes(client) == ["done", "replayed"]


def test_a_stale_fence_is_refused_and_has_no_effect(client: Client) -> None:
    """S6: a zombie that calls after its successor changes nothing, and the journal shows that it tried."""
    client.call(KEY, fence=2)
    assert client.call(KEY, fence=1) == (409, {"code": "stale_fence"})
    assert len(client.services.ledger.effects(KEY)) == 1
    assert outcomes(client) == ["done", "stale_fence"]


def test_fences_of_different_keys_have_nothing_to_do_with_each_other(client: Client) -> None:
    client.call("o-1/charge", fence=9)
    assert client.call("o-2/charge", fence=1)[0] == 200


@pytest.mark.parametrize(("path", "body"), [("payments/charge", {"amount": 6}), ("payments/refund", {"amount": 5})])
def test_a_key_cannot_be_used_for_another_request(client: Client, path: str, body: dict[str, int]) -> None:
    client.call(KEY, body={"amount": 5})
    assert client.call(KEY, path=path, body=body) == (422, {"code": "key_reused"})
    assert len(client.services.ledger.effects()) == 1


def test_services_keep_their_keys_apart_but_an_audit_sees_both_effects(client: Client) -> None:
    client.call(KEY, path="payments/charge")
    client.call(KEY, path="other-bank/charge")
    assert client.services.ledger.doubled() == {KEY: 2}


def test_an_undo_takes_a_call_back_once(client: Client) -> None:
    """S17: an undo is idempotent under its own key."""
    client.call(KEY)
    first = client.call(UNDO, path="payments/refund", undo_of=KEY)
    assert first[1]["undid"] is True
    assert client.call(UNDO, path="payments/refund", undo_of=KEY, fence=2) == first
    assert client.call("another/undo", path="payments/refund", undo_of=KEY) == first
    assert [(effect.key, effect.undo_of) for effect in client.services.ledger.effects()] == [(KEY, ""), (UNDO, KEY)]


def test_an_undo_that_overtakes_its_call_refuses_it_for_ever(client: Client) -> None:
    """S17, case 73: the undo of an unknown key succeeds and leaves a tombstone."""
    status, answer = client.call(UNDO, path="payments/refund", undo_of=KEY)
    assert (status, answer["undid"]) == (200, False)
    assert client.call(KEY, fence=7) == (409, {"code": "undone"})
    assert client.services.ledger.effects(KEY) == []


def test_a_call_that_was_undone_is_not_answered_as_if_it_stood(client: Client) -> None:
    client.call(KEY)
    client.call(UNDO, path="payments/refund", undo_of=KEY)
    assert client.call(KEY) == (409, {"code": "undone"})


def test_eight_callers_at_once_have_one_effect(client: Client) -> None:
    """I4, S10: the check and the effect are one transaction."""
    together = threading.Barrier(8)

    def race(key: str) -> tuple[int, str]:
        together.wait()
        status, answer = client.call(key)
        return status, answer["reference"]

    with ThreadPoolExecutor(8) as threads:
        for round_number in range(20):
            answers = set(threads.map(race, [f"o-{round_number}/charge"] * 8))
            assert len(answers) == 1
    assert client.services.ledger.doubled() == {}
    assert len(client.services.ledger.effects()) == 20
    assert len(client.services.ledger.entries()) == 160


def test_two_processes_on_one_ledger_have_one_effect(client: Client, tmp_path: Path) -> None:
    with Services(tmp_path / "ledger.db") as other, ThreadPoolExecutor(8) as threads:
        both = [client, Client(other, client.pool)]
        keys = [f"o-{number}/charge" for number in range(20) for _ in range(4)]
        list(threads.map(lambda work: both[work[0] % 2].call(work[1]), enumerate(keys)))
    assert client.services.ledger.doubled() == {}
    assert len(client.services.ledger.effects()) == 20


def test_an_audit_sees_a_service_that_forgets_its_keys(tmp_path: Path) -> None:
    """The audit can fail: without the guard the doubled effect is in the table."""
    with Services(tmp_path / "ledger.db", honour_keys=False) as services, urllib3.PoolManager() as pool:
        client = Client(services, pool)
        assert client.call(KEY)[1] != client.call(KEY)[1]
        for _ in range(2):
            client.call(UNDO, path="payments/refund", undo_of=KEY)
        assert services.ledger.doubled() == {KEY: 2, UNDO: 2}


def test_the_ledger_outlives_the_server(tmp_path: Path) -> None:
    for expected in ("done", "replayed"):
        with Services(tmp_path / "ledger.db", now=lambda: 1_000) as services, urllib3.PoolManager() as pool:
            client = Client(services, pool)
            client.call(KEY)
            assert outcomes(client)[-1] == expected
            assert services.ledger.entries()[-1].at == 1_000


def test_the_ledger_can_be_read_over_http(client: Client) -> None:
    client.call(KEY)
    shown = client.pool.request("GET", f"{client.services.endpoint}/_ledger").json()
    assert [effect["key"] for effect in shown["effects"]] == [KEY]
    assert [entry["outcome"] for entry in shown["journal"]] == ["done"]
    assert shown["doubled"] == {}
    assert client.pool.request("GET", client.services.endpoint).status == 404


@pytest.mark.parametrize(
    ("path", "body", "headers", "expected"),
    [
        ("/payments/charge", {}, {"Fence": "1"}, (400, "key_missing")),
        ("/payments/charge", {}, {"Idempotency-Key": "k" * 257, "Fence": "1"}, (400, "key_missing")),
        ("/payments/charge", {}, {"Idempotency-Key": KEY}, (400, "fence_missing")),
        ("/payments/charge", {}, {"Idempotency-Key": KEY, "Fence": "-1"}, (400, "fence_missing")),
        ("/payments/charge", {}, {"Idempotency-Key": KEY, "Fence": "1", "Undo-Of": KEY}, (400, "undo_of_wrong")),
        ("/payments/charge", [], {"Idempotency-Key": KEY, "Fence": "1"}, (400, "not_an_object")),
        ("/payments", {}, {"Idempotency-Key": KEY, "Fence": "1"}, (404, "unknown_path")),
        ("/_other/charge", {}, {"Idempotency-Key": KEY, "Fence": "1"}, (404, "unknown_path")),
        ("/payments/charge", {}, {"Content-Type": "text/plain"}, (415, "not_json")),
        ("/payments/charge", "x" * 70_000, {}, (413, "too_large")),
    ],
)
def test_a_request_that_breaks_the_contract_is_refused(
    client: Client, path: str, body: object, headers: dict[str, str], expected: tuple[int, str]
) -> None:
    status, answer = client.post(path, body, headers)
    assert (status, answer["code"]) == expected
    assert client.services.ledger.effects() == []


def test_the_server_runs_alone_until_it_gets_a_signal(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stepward.local.services", "--ledger", str(tmp_path / "ledger.db")]
    environment = {"PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:  # noqa: S603
        assert server.stdout
        endpoint = server.stdout.readline().strip()
        with urllib3.PoolManager() as pool:
            headers = {"Content-Type": "application/json", "Idempotency-Key": KEY, "Fence": "1"}
            fault = {"service": "payments", "target": "o-1", "kind": "die_after_effect"}
            pool.request("POST", f"{endpoint}/_faults", body=json.dumps(fault), headers=headers)
            with pytest.raises(urllib3.exceptions.ProtocolError):
                pool.request("POST", f"{endpoint}/payments/charge", body="{}", headers=headers, retries=False)
            shown = pool.request("GET", f"{endpoint}/_ledger").json()
        server.send_signal(signal.SIGTERM)
        assert server.wait(10) == 0
    # This very process started the server, so it was not killed.
    notes = [entry["note"] for entry in shown["journal"]]
    assert notes == ["spared: the caller is this process or one that started it"]
