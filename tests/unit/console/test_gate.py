"""O3: only the person who started the console gets in, and no other site through their browser."""

import asyncio
import logging
from collections.abc import Mapping, MutableMapping
from contextlib import nullcontext
from typing import Any

import pytest

from stepward.console.gate import Gate

PORT, TOKEN, COOKIE = 8123, "the-token", "the-cookie"
HOST = f"127.0.0.1:{PORT}"
OURS = {"host": HOST, "cookie": f"stepward-console-{PORT}={COOKIE}"}


def asked(kind: str = "http", query: str = "", path: str = "/", **headers: str) -> list[Mapping[str, Any]]:
    """What the gate sends for a request with these headers; the page behind it answers 200."""
    sent: list[Mapping[str, Any]] = []

    async def page(scope: Any, _: Any, send: Any) -> None:
        accepted = {"type": "http.response.start", "status": 200, "headers": []}
        await send(accepted if scope["type"] == "http" else {"type": "websocket.accept"})

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(message)

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request"}

    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "method": "GET", "path": path, "query_string": query.encode(), "headers": pairs}
    asyncio.run(Gate(page, PORT, TOKEN, COOKIE)(scope, receive, send))
    return sent


def status(*args: str, **headers: str) -> Any:
    first = asked(*args, **headers)[0]
    return first.get("status", first["type"])


@pytest.mark.parametrize(
    ("changed", "http", "websocket"),
    [
        ({}, 200, "websocket.close"),
        ({"origin": f"http://{HOST}"}, 200, "websocket.accept"),
        ({"origin": "http://evil.example"}, 403, "websocket.close"),
        ({"origin": "null"}, 403, "websocket.close"),
        ({"host": f"evil.example:{PORT}", "origin": f"http://evil.example:{PORT}"}, 403, "websocket.close"),
        ({"host": "127.0.0.1:9999", "origin": "http://127.0.0.1:9999"}, 403, "websocket.close"),
        ({"cookie": "", "origin": f"http://{HOST}"}, 403, "websocket.close"),
        ({"cookie": f"stepward-console-{PORT}=guessed", "origin": f"http://{HOST}"}, 403, "websocket.close"),
    ],
)
def test_only_our_own_pages_pass(changed: Mapping[str, str], http: int, websocket: str) -> None:
    headers = {**OURS, **changed}
    assert status("http", **headers) == http
    assert status("websocket", **headers) == websocket


def test_the_token_is_exchanged_for_a_cookie_that_no_script_reads_and_no_other_site_sends() -> None:
    start = asked("http", f"token={TOKEN}&where=state%3DError", "/orders", host=HOST)[0]
    headers = dict(start["headers"])
    assert (start["status"], headers[b"location"]) == (303, b"/orders?where=state%3DError")
    assert headers[b"set-cookie"].decode() == f"stepward-console-{PORT}={COOKIE}; HttpOnly; Path=/; SameSite=strict"


def test_a_wrong_token_opens_nothing() -> None:
    assert status("http", "token=guessed", host=HOST) == 403
    assert status("http", "token=", host=HOST) == 403
    assert status("websocket", f"token={TOKEN}", host=HOST, origin=f"http://{HOST}") == "websocket.close"


def test_the_token_leads_to_no_other_host() -> None:
    location = dict(asked("http", f"token={TOKEN}", "//evil.example", host=HOST)[0]["headers"])[b"location"]
    assert location == b"/evil.example"


def test_pages_load_nothing_from_another_host() -> None:
    policy = dict(asked(**OURS)[0]["headers"])[b"content-security-policy"].decode()
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "http" not in policy.replace(f"ws://{HOST}", "")


def test_no_secret_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        status("http", f"token={TOKEN}", host=HOST)
    assert TOKEN not in caplog.text
    assert COOKIE not in caplog.text


@pytest.mark.parametrize(("heard", "is_raised"), [("http.disconnect", False), ("http.request", True)])
def test_a_browser_that_leaves_before_its_answer_is_no_error(heard: str, is_raised: bool) -> None:
    async def page(_: Any, receive: Any, __: Any) -> None:
        await receive()
        raise RuntimeError("No response returned.")

    async def receive() -> MutableMapping[str, Any]:
        return {"type": heard}

    async def send(_: object) -> None: ...

    scope = {"type": "http", "headers": [(name.encode(), value.encode()) for name, value in OURS.items()]}
    with pytest.raises(RuntimeError) if is_raised else nullcontext():
        asyncio.run(Gate(page, PORT, TOKEN, COOKIE)(scope, receive, send))
