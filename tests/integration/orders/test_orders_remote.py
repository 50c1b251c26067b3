import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from orders.fulfilment import API_KEY, cancel_shipment, charge, refund, release, reserve, ship
from orders.remote import MAX_ANSWER
from orders.returns import cancel_label, close_return, find_payment, pay_back, restock, send_label, unstock
from stepward.domain.errors import Permanent, Transient
from stepward.domain.workflow.agents import Call, Operation
from stepward.local.services import Fault, FaultKind, Services
from stepward.local.services.request import local_secret
from stepward.service_urls import ADDRESSES
from stepward.testing import known_secrets

PERSONAL = "Jane Doe, card 4111"
ORDER = {
    "orderId": "o-1",
    "customerId": PERSONAL,
    "purchase": "o-0",
    "currency": "EUR",
    "items": [{"sku": "A", "qty": 2, "unitPrice": "9.99"}, {"sku": "B", "qty": 1, "unitPrice": "0.01"}],
}
RESULTS: dict[str, dict[str, Any]] = {
    "reserve": {"reservation": "reserve-1"},
    "send_label": {"label": "l-1"},
    "approval": {"percent": 40},
}

GOODS = [{"sku": "A", "qty": 2}, {"sku": "B", "qty": 1}]
REFUSALS = [(400, "wrong"), (402, "who"), (404, "nowhere"), (409, "stale_fence"), (409, "undone"), (422, "declined")]
UNREADABLE = [b"<html>", b"[]", b"{", b'"text"', b'{"reference": "%s"}' % (b"x" * MAX_ANSWER), b"[" * 9000]
NO_CODE = [b"", b"<p>no</p>", b"[]", b'{"code": 7}', b'{"code": "Jane Doe"}', b'{"code": "a\\n"}']


def call(key: str = "o-1/charge", *, seconds: float = 5.0, fence: int = 1) -> Call:
    return Call(ORDER, RESULTS, key, fence, attempt=1, remaining=lambda: seconds)


class Canned:
    """A service with a canned answer; it records its requests."""

    def __init__(self) -> None:
        self.status, self.headers, self.body = 200, {"Content-Type": "application/json"}, b'{"reference": "r-1"}'
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.connections = 0
        canned = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 5

            def setup(self) -> None:
                canned.connections += 1
                super().setup()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                canned.asked.append((self.path, dict(self.headers.items()), body))
                self.send_response(canned.status)
                for name, value in {"Content-Length": str(len(canned.body)), **canned.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(canned.body)

            def log_message(self, *_: object, **__: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/v1"


@pytest.fixture
def canned(monkeypatch: pytest.MonkeyPatch) -> Iterator[Canned]:
    service = Canned()
    thread = threading.Thread(target=service.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setenv(ADDRESSES, json.dumps(dict.fromkeys(["inventory", "payments", "shipping"], service.address)))
    yield service
    service.server.shutdown()
    service.server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def _secrets() -> Iterator[None]:
    with known_secrets({API_KEY: local_secret(API_KEY)}):
        yield


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Services]:
    with Services(tmp_path / "ledger.db", secrets={"payments": [API_KEY]}) as running:
        addresses = {name: running.url(name) for name in ("inventory", "payments", "shipping")}
        monkeypatch.setenv(ADDRESSES, json.dumps(addresses))
        yield running


@pytest.mark.parametrize(
    ("operation", "key", "path", "sent", "result"),
    [
        (reserve, "o-1/reserve", "/v1/reserve", {"items": GOODS}, "reservation"),
        (charge, "o-1/charge", "/v1/charge", {"amount": 1999, "currency": "EUR"}, "charge"),
        (ship, "o-1/ship", "/v1/ship", {"reservation": "reserve-1"}, "shipment"),
        (release, "o-1/reserve/undo", "/v1/release", {}, "release"),
        (refund, "o-1/charge/undo", "/v1/refund", {}, "refund"),
        (cancel_shipment, "o-1/ship/undo", "/v1/cancel_shipment", {}, "cancellation"),
        (send_label, "r-1/send_label", "/v1/send_label", {"purchase": "o-0"}, "label"),
        (cancel_label, "r-1/send_label/undo", "/v1/cancel_label", {}, "cancellation"),
        (restock, "r-1/restock", "/v1/restock", {"items": GOODS}, "restocking"),
        (unstock, "r-1/restock/undo", "/v1/unstock", {}, "unstocking"),
        # 40 % of 19.99, to the customer's disadvantage by less than a cent.
        (pay_back, "r-1/pay_back", "/v1/pay_back", {"purchase": "o-0", "amount": 799, "currency": "EUR"}, "payment"),
        (find_payment, "r-1/pay_back", "/v1/find_payment", {}, "payment"),
        (close_return, "r-1/close_return", "/v1/close_return", {"label": "l-1"}, "closing"),
    ],
)
def test_a_service_gets_what_it_needs_and_no_more(
    canned: Canned, operation: Operation, key: str, path: str, sent: object, result: str
) -> None:
    """S5: the stable key and the fence go with every call; personal data goes with none."""
    assert operation(call(key, fence=3)) == {result: "r-1"}
    ((asked, headers, body),) = canned.asked
    assert (asked, json.loads(body)) == (path, sent)
    assert (headers["Idempotency-Key"], headers["Fence"]) == (key, "3")
    secret = f"Bearer {local_secret(API_KEY)}" if operation.agent.secrets else None
    assert headers.get("Authorization") == secret
    assert headers.get("Undo-Of") == (key.removesuffix("/undo") if key.endswith("/undo") else None)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_what_may_pass_is_tried_again_and_not_by_the_client(canned: Canned, status: int) -> None:
    canned.status, canned.body = status, json.dumps({"code": "busy", "message": PERSONAL}).encode()
    with pytest.raises(Transient, match=f"payments/charge: HTTP {status} busy") as failed:
        charge(call())
    assert PERSONAL not in str(failed.value)
    assert len(canned.asked) == 1


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        *((status, json.dumps({"code": code, "message": PERSONAL}).encode(), code) for status, code in REFUSALS),
        *((403, body, "http_403") for body in NO_CODE),
    ],
)
def test_a_refusal_is_permanent_and_names_its_code_alone(canned: Canned, status: int, body: bytes, code: str) -> None:
    """S7: the code, or the status without a usable code, reaches the operator; what else the body holds does not."""
    canned.status, canned.body = status, body
    with pytest.raises(Permanent) as refused:
        charge(call())
    assert str(refused.value) == f"payments/charge: refused with {code}"


def test_a_redirect_is_not_followed(canned: Canned) -> None:
    canned.status, canned.headers = 307, {"Location": f"{canned.address}/elsewhere"}
    with pytest.raises(Permanent, match="http_307"):
        charge(call())
    assert [path for path, _, _ in canned.asked] == ["/v1/charge"]


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        *(({"status": 409, "body": body}, "HTTP 409") for body in (b"", b'{"code": "in_progress"}')),
        # The work may be done, so it is no refusal: the same key asks again.
        *(({"body": body}, "not a small JSON object") for body in UNREADABLE),
        *(({"body": body}, "without a reference") for body in (b"{}", b"", b'{"reference": ""}', b'{"reference": 5}')),
        ({"headers": {"Content-Length": "500", "Connection": "close"}}, "payments/charge: ProtocolError"),
        # An endless answer is not read to its end.
        ({"headers": {"Content-Length": "10000000"}, "body": b"x" * (MAX_ANSWER + 1)}, "not a small JSON object"),
    ],
)
def test_an_answer_that_leaves_doubt_is_asked_for_again(canned: Canned, answer: dict[str, Any], fault: str) -> None:
    vars(canned).update(answer)
    with pytest.raises(Transient, match=fault):
        charge(call(seconds=2))


def test_a_connection_serves_more_than_one_call(canned: Canned) -> None:
    for _ in range(5):
        charge(call())
    assert canned.connections == 1


def test_an_answer_that_drips_past_complete_by_is_given_up(canned: Canned) -> None:
    """S6, case 72: no single wait is too long, but together they are."""
    left = iter([5.0, 0.0])
    with pytest.raises(Transient, match="not complete before complete-by"):
        charge(replace(call(), remaining=lambda: next(left)))
    assert len(canned.asked) == 1


def test_a_service_that_is_not_there_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ADDRESSES, '{"payments": "http://127.0.0.1:9"}')
    with pytest.raises(Transient, match="payments/charge: NewConnectionError"):
        charge(call())


@pytest.mark.parametrize(("seconds", "read_cap"), [(0.2, 10.0), (3600, 0.2)], ids=["little time left", "hours left"])
def test_a_call_waits_neither_longer_than_it_has_left_nor_for_hours(
    services: Services, monkeypatch: pytest.MonkeyPatch, seconds: float, read_cap: float
) -> None:
    """Case 71: the timeout fits the remaining time; without it the service would be the one to hang up."""
    monkeypatch.setattr("orders.remote.READ_CAP", read_cap)
    services.misbehave(Fault("payments", "o-1", FaultKind.HANG, seconds=2))
    with pytest.raises(Transient, match="payments/charge: ReadTimeoutError"):
        charge(call(seconds=seconds))
    assert services.ledger.effects() == []


def test_a_lost_answer_is_found_again_under_the_same_key(services: Services) -> None:
    """I4, S18: the effect happened, the answer was lost, the retry gets it."""
    services.misbehave(Fault("payments", "o-1", FaultKind.CUT_AFTER_EFFECT))
    with pytest.raises(Transient, match="ProtocolError"):
        charge(call(fence=1))
    assert charge(call(fence=2)) == {"charge": "charge-1"}
    assert len(services.ledger.effects()) == 1


@pytest.mark.usefixtures("services")
def test_a_zombie_stops_at_once() -> None:
    """S6: a replaced attempt is refused for good, not asked to try again."""
    charge(call(fence=2))
    with pytest.raises(Permanent, match="stale_fence"):
        charge(call(fence=1))


def test_what_was_done_can_be_taken_back_and_then_stays_so(services: Services) -> None:
    """S17."""
    steps = [(reserve, release, "reserve"), (charge, refund, "charge"), (ship, cancel_shipment, "ship")]
    steps += [(send_label, cancel_label, "send_label"), (restock, unstock, "restock")]
    for operation, undo, step in steps:
        operation(call(f"o-1/{step}"))
        undo(call(f"o-1/{step}/undo"))
        with pytest.raises(Permanent, match="undone"):
            operation(call(f"o-1/{step}", fence=2))
    taken_back = [effect.undo_of for effect in services.ledger.effects() if effect.undid]
    assert taken_back == [f"o-1/{step}" for _, _, step in steps]
