"""An HTTP server on this machine that stands in for any number of remote services."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from stepward.local.services.faults import Fault, Script
from stepward.local.services.handler import Handler
from stepward.local.services.ledger import Ledger


class Services:
    """The services, each at `url(name)` for any name. Use it in a `with`, or start and stop it.

    With `honour_keys=False` they forget idempotency keys, as a service does that has to be asked first. An operation
    whose name begins with `find_` answers with the effect of its key that stands, or with nothing. `secrets` are the
    names of those that a service demands, by service.
    """

    def __init__(
        self,
        ledger: Path,
        *,
        port: int = 0,
        honour_keys: bool = True,
        now: Callable[[], int] | None = None,
        secrets: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.ledger = Ledger(ledger, now or _epoch_ms, honour_keys=honour_keys)
        self.script = Script()
        self._server = _Server(("127.0.0.1", port), self.ledger, self.script, secrets or {})
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def endpoint(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def url(self, service: str) -> str:
        """The base address of a service; its operations are below it."""
        return f"{self.endpoint}/{service}"

    def misbehave(self, fault: Fault) -> None:
        """Add a fault."""
        self.script.add(fault)

    def behave(self, service: str, target: str) -> None:
        """Remove the faults of this order or key."""
        self.script.clear(service, target)

    def start(self) -> Self:
        """Start to serve."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop serving, drop all connections, and close the ledger."""
        self._server.stop()
        self._thread.join()
        self.ledger.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    """A threading server that can join its threads and drop its connections."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(
        self, address: tuple[str, int], ledger: Ledger, script: Script, demanded: Mapping[str, Sequence[str]]
    ) -> None:
        self.demanded = demanded
        self.ledger = ledger
        self.script = script
        self.stopping = threading.Event()
        self._open: set[socket.socket] = set()
        super().__init__(address, Handler)

    def stop(self) -> None:
        self.stopping.set()
        self.shutdown()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        # Without the shutdown of the base class, which would turn a reset into an end of stream.
        self._open.discard(request)
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore callers that went away: some are killed on purpose."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _epoch_ms() -> int:
    return time.time_ns() // 1_000_000
