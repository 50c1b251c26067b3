"""Reads a call from an HTTP request, and refuses what the service contract does not allow."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from stepward.local.services.calls import ServiceCall

MAX_BODY = 64 * 1024
_PATH = re.compile(r"/([a-z][a-z0-9-]*)/([a-z][a-z0-9_]*)")
_KEY = re.compile(r"[!-~]{1,256}")
_NUMBER = re.compile(r"[0-9]{1,15}")


class BadRequestError(Exception):
    """A request that breaks the contract; the answer is `status` with `code`."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(code)
        self.status = status
        self.code = code


def read_object(headers: Mapping[str, str], stream: BinaryIO) -> dict[str, Any]:
    """The JSON object in the body of a request; raises BadRequestError."""
    length = headers.get("Content-Length", "")
    if not _NUMBER.fullmatch(length):
        raise BadRequestError(411, "length_missing")
    # Read before any check: closing a connection with unread bytes resets it, and the caller loses the answer.
    text = stream.read(min(int(length), 16 * MAX_BODY))
    if headers.get("Content-Type", "").partition(";")[0].strip() != "application/json":
        raise BadRequestError(415, "not_json")
    if int(length) > MAX_BODY:
        raise BadRequestError(413, "too_large")
    return _object(text)


def _object(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(400, "not_json") from error
    if not isinstance(value, dict):
        raise BadRequestError(400, "not_an_object")
    return value


def local_secret(name: str) -> str:
    """What a secret of this name holds on this machine."""
    return f"local-{name}"


def service_call(
    path: str, headers: Mapping[str, str], body: Mapping[str, Any], demanded: Mapping[str, Sequence[str]]
) -> ServiceCall:
    """The call in a request, by one of the secrets that its service demands, if any; raises BadRequestError."""
    if not (names := _PATH.fullmatch(path)):
        raise BadRequestError(404, "unknown_path")
    known = [f"Bearer {local_secret(name)}" for name in demanded.get(names[1], ())]
    if known and headers.get("Authorization", "") not in known:
        raise BadRequestError(401, "secret_wrong")
    key, fence, undo_of = (headers.get(name, "") for name in ("Idempotency-Key", "Fence", "Undo-Of"))
    if not _KEY.fullmatch(key):
        raise BadRequestError(400, "key_missing")
    if not _NUMBER.fullmatch(fence):
        raise BadRequestError(400, "fence_missing")
    if undo_of == key or (undo_of and not _KEY.fullmatch(undo_of)):
        raise BadRequestError(400, "undo_of_wrong")
    return ServiceCall(names[1], names[2], key, int(fence), undo_of, body)
