"""Calls the remote services over HTTP, and sorts their answers into done, transient and permanent.

Nothing here writes a log, and no error contains a body: a body may hold personal data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from typing import Any, cast

from urllib3 import BaseHTTPResponse, PoolManager, Timeout
from urllib3.exceptions import HTTPError

from stepward import Call, Misconfigured, Permanent, Transient, secret, service_url

CONNECT_CAP = 2.0
READ_CAP = 10.0
MAX_ANSWER = 16 * 1024
_CODE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_TRY_AGAIN = {408, 425, 429}
_STILL_RUNNING = {"", "in_progress"}


def post(path: str, call: Call, body: Mapping[str, Any], *, undoes: str = "", key: str = "") -> dict[str, Any]:
    """Call the operation `path` (`service/operation`) once, within the call's remaining time; returns its answer.

    `key` is the secret by which the service knows us. Raises Transient if it may work later, Permanent if the service
    refuses it, Misconfigured without an address, or if the service does not accept the secret.
    """
    service, _, operation = path.partition("/")
    url = f"{service_url(service)}/{operation}"
    if (left := call.remaining()) <= 0:
        raise Transient(f"{path}: no time left before complete-by")
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Idempotency-Key": call.idempotency_key,
        "Fence": str(call.fence),
        **({"Undo-Of": undoes} if undoes else {}),
        **({"Authorization": f"Bearer {secret(key)}"} if key else {}),
    }
    limits = Timeout(total=left, connect=min(CONNECT_CAP, left), read=min(READ_CAP, left))
    try:
        response = _pool().request(
            "POST",
            url,
            body=json.dumps(body).encode(),
            headers=headers,
            timeout=limits,
            retries=False,
            redirect=False,
            preload_content=False,
        )
        with closing(response):
            text = _read(path, response, call)
    except HTTPError as error:
        # The type only: the text of some of these errors quotes the request.
        raise Transient(f"{path}: {type(error).__name__}") from None
    if key and response.status == 401:
        secret(key, again=True)  # for the next attempt, if it was rotated
        raise Misconfigured(f"{path}: the service does not accept the secret {key}; store the one that it expects")
    return _sort(path, response.status, text)


def _read(path: str, response: BaseHTTPResponse, call: Call) -> bytes:
    text = b""
    # In pieces: a service that sends its answer byte by byte never causes a timeout between two bytes.
    while len(text) <= MAX_ANSWER and (piece := response.read1(MAX_ANSWER)):
        text += piece
        if call.remaining() <= 0:
            raise Transient(f"{path}: the answer was not complete before complete-by")
    return text


def _sort(path: str, status: int, text: bytes) -> dict[str, Any]:
    answer = _object(text)
    if 200 <= status < 300:
        if answer is None:
            # The work may be done: the next attempt has the same key, and may get a readable answer.
            raise Transient(f"{path}: HTTP {status} with an answer that is not a small JSON object")
        return answer
    code = _code(answer)
    if status >= 500 or status in _TRY_AGAIN or (status == 409 and code in _STILL_RUNNING):
        raise Transient(f"{path}: HTTP {status} {code}".rstrip())
    # A stale fence is permanent, too. A replaced attempt must stop, not try again until its time is up; the Scheduler
    # drops its reply. If the attempt is the current one, the service knows a higher fence than the state store (after
    # a restored backup): no retry helps, and an operator has to act.
    raise Permanent(f"{path}: refused with {code or f'http_{status}'}")


def _object(text: bytes) -> dict[str, Any] | None:
    if len(text) > MAX_ANSWER:
        return None
    try:
        value: object = json.loads(text or b"{}")
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _code(answer: Mapping[str, Any] | None) -> str:
    code = (answer or {}).get("code")
    return code if isinstance(code, str) and _CODE.fullmatch(code) else ""


@cache
def _pool() -> PoolManager:
    return PoolManager(maxsize=10)  # an agent serves up to ten requests at once, each in a thread
