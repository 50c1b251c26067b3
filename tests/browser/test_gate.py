"""O3: other sites, other names of this machine, and people without the token get nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.browser.window import Window

ATTACK = """<!doctype html><script>
const target = new URLSearchParams(location.search).get("target"), found = {};
const socket = new WebSocket(target.replace("http", "ws") + "/_nicegui_ws/socket.io/?EIO=4&transport=websocket");
socket.onopen = () => found.socket = "open";
socket.onerror = () => found.socket ??= "refused";
const frame = document.createElement("iframe");
frame.onload = () => found.frame = frame.contentDocument ? "empty" : "another site's";
frame.src = target;
fetch(target + "/", {credentials: "include"}).then(a => a.text()).then(text => found.page = text)
  .catch(() => found.page = "refused");
fetch(target + "/", {method: "POST", mode: "no-cors", credentials: "include"}).then(a => found.post = a.type);
setInterval(() => document.title = JSON.stringify(found), 50);
addEventListener("load", () => document.body.append(frame));
</script><body>"""


@pytest.fixture
def other_site() -> Iterator[str]:
    """A page of another port of this machine: browsers send it the console's cookie, since the site is the same."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = ATTACK.encode()
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def status(address: str, path: str = "/", **headers: str) -> int:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=30)
    try:
        connection.putrequest("GET", path, skip_host="host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


def test_another_site_in_the_same_browser_reads_nothing_and_opens_no_socket(browser: Window, other_site: str) -> None:
    browser.driver.get(f"{other_site}/?target={browser.address}")
    found = browser.wait(lambda: _all_found(browser.driver.title), "the answers")
    assert (found["socket"], found["page"]) == ("refused", "refused")
    assert found["frame"] == "another site's"
    assert "read only" not in browser.text()
    browser.forget()


def _all_found(title: str) -> Mapping[str, Any] | None:
    found: dict[str, Any] = json.loads(title) if title.startswith("{") else {}
    return found if {"socket", "page", "frame", "post"} <= set(found) else None


@pytest.mark.parametrize(
    "headers",
    [{}, {"host": "evil.example"}, {"origin": "http://evil.example"}, {"cookie": "stepward-console=guessed"}],
    ids=str,
)
def test_who_has_no_token_gets_nothing(browser: Window, headers: dict[str, str]) -> None:
    for path in ("/", "/orders", "/_nicegui/x/static/nicegui.js", "/_nicegui_ws/socket.io/?EIO=4&transport=polling"):
        assert status(browser.address, path, **headers) == 403


def test_the_token_opens_the_console_only_under_its_own_name(browser: Window, address: str) -> None:
    token = "/" + address.partition("/?")[2].join(("?", ""))
    assert status(browser.address, token) == 303
    assert status(browser.address, token, host="evil.example") == 403
    assert status(browser.address, token, origin="http://evil.example") == 403
    assert "token" not in browser.driver.current_url
