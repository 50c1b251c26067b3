"""Stands between the console and the local cloud: counts what is asked, and refuses what a person may not do."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

_HOP = {"transfer-encoding", "connection", "content-length", "date", "server"}


@dataclass
class Forwarded:
    """The way to the cloud at `endpoint`: how often each action was `asked`, and which are `refused`."""

    endpoint: str
    refused: set[str] = field(default_factory=set)
    asked: Counter[str] = field(default_factory=Counter)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    way: Forwarded

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        named = parse_qs(body.decode()).get("Action", [self.command])[0]  # S3 names no action
        action = self.headers.get("x-amz-target", "").rpartition(".")[2] or named
        self.way.asked[action] += 1
        if action in self.way.refused:
            text = "User: looker is not authorized to perform this action"
            refusal = {"__type": "com.amazonaws#AccessDeniedException", "message": text, "Message": text}
            self._say(400, [("content-type", "application/x-amz-json-1.0")], json.dumps(refusal).encode())
            return
        cloud = HTTPConnection(urlsplit(self.way.endpoint).netloc, timeout=60)
        try:
            cloud.request(self.command, self.path, body, dict(self.headers.items()))
            answer = cloud.getresponse()
            self._say(answer.status, answer.getheaders(), answer.read())
        finally:
            cloud.close()

    def _say(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in _HOP:
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def forwarded(way: Forwarded) -> Iterator[str]:
    """The address of the way."""
    handler = type("Handler", (_Handler,), {"way": way})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
