"""Answers an HTTP request: a call of a service, a fault to add, or a query of the ledger."""

from __future__ import annotations

import ipaddress
import json
import socket
import struct
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler
from typing import Any, BinaryIO, Protocol, cast

from stepward.local.services.calls import Answer, ServiceCall, refusal
from stepward.local.services.faults import Fault, FaultKind, Script
from stepward.local.services.ledger import Ledger
from stepward.local.services.peer import PeerSparedError, killable_peer
from stepward.local.services.request import BadRequestError, read_object, service_call


class _Shared(Protocol):
    ledger: Ledger
    script: Script
    demanded: Mapping[str, Sequence[str]]
    stopping: threading.Event
    server_address: Any


class Handler(BaseHTTPRequestHandler):
    """Serves one connection, and keeps it alive for further requests."""

    protocol_version = "HTTP/1.1"
    timeout = 300

    @property
    def _shared(self) -> _Shared:
        return cast("_Shared", self.server)

    def do_GET(self) -> None:
        """Show the ledger, or the faults to come."""
        if self.path == "/_faults":
            return self._say(200, {"faults": [asdict(fault) for fault in self._shared.script.left]})
        if self.path != "/_ledger":
            return self._say(404, {"code": "unknown_path"})
        ledger = self._shared.ledger
        effects, entries = ([asdict(row) for row in rows] for rows in (ledger.effects(), ledger.entries()))
        return self._say(200, {"effects": effects, "journal": entries, "doubled": ledger.doubled()})

    def do_POST(self) -> None:
        """Serve a call, or add a fault."""
        try:
            headers = cast("Mapping[str, str]", self.headers)
            body = read_object(headers, cast("BinaryIO", self.rfile))
            if self.path == "/_faults":
                self._add_fault(body)
            else:
                self._serve(service_call(self.path, headers, body, self._shared.demanded))
        except BadRequestError as error:
            # A rest of the body must not be read as the next request.
            self.close_connection = True
            self._say(error.status, {"code": error.code})

    def do_DELETE(self) -> None:
        """Remove all faults, or those of a service: `/_faults/bank`."""
        root, _, service = self.path.removeprefix("/").partition("/")
        if root != "_faults" or not self._is_from_here:
            return self._say(404, {"code": "unknown_path"})
        self._shared.script.clear(service)
        return self._say(200, {})

    @property
    def _is_from_here(self) -> bool:
        return ipaddress.ip_address(self.client_address[0]).is_loopback

    def log_message(self, *_: object, **__: object) -> None:
        """The journal is the log."""

    def _add_fault(self, body: Mapping[str, Any]) -> None:
        if not self._is_from_here:
            return self._say(403, {"code": "this_machine_only"})
        try:
            self._shared.script.add(Fault.from_json(body))
        except ValueError as error:
            return self._say(400, {"code": "fault_wrong", "reason": str(error)})
        return self._say(200, {})

    def _serve(self, call: ServiceCall) -> None:
        ledger = self._shared.ledger
        if refused := ledger.arrive(call):
            ledger.journal(call, refused.status, refused.outcome)
            return self._answer(refused)
        if fault := self._shared.script.take(call):
            return self._misbehave(call, fault)
        return self._answer(ledger.perform(call))

    def _misbehave(self, call: ServiceCall, fault: Fault) -> None:
        match fault.kind:
            case FaultKind.FAIL:
                self._refuse(call, fault, refusal(503, "unavailable"))
            case FaultKind.DECLINE:
                self._refuse(call, fault, refusal(422, "declined"))
            case FaultKind.HANG:
                self._shared.ledger.journal(call, 0, "hung", fault.kind)
                self._shared.stopping.wait(fault.seconds)
                self.close_connection = True
            case FaultKind.SLOW:
                self._shared.stopping.wait(fault.seconds)
                self._answer(self._shared.ledger.perform(call, fault=fault.kind))
            case FaultKind.CUT_AFTER_EFFECT:
                self._shared.ledger.perform(call, fault=fault.kind, answered=False)
                self._reset()
            case FaultKind.DIE_AFTER_EFFECT:
                self._kill_caller(call, fault)

    def _refuse(self, call: ServiceCall, fault: Fault, answer: Answer) -> None:
        self._shared.ledger.journal(call, answer.status, answer.outcome, fault.kind)
        self._answer(answer)

    def _kill_caller(self, call: ServiceCall, fault: Fault) -> None:
        self.close_connection = True
        ours = (str(self._shared.server_address[0]), int(self._shared.server_address[1]))
        try:
            peer = killable_peer(self.client_address, ours)
        except PeerSparedError as spared:
            self._shared.ledger.perform(call, fault=fault.kind, answered=False, note=f"spared: {spared}")
        else:
            self._shared.ledger.perform(call, fault=fault.kind, answered=False, note=f"killed: {peer.pid}")
            peer.kill()

    def _reset(self) -> None:
        self.close_connection = True
        # With a linger time of zero, the close that follows resets the connection.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def _answer(self, answer: Answer) -> None:
        self._say(answer.status, answer.body)

    def _say(self, status: int, body: Mapping[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)
