"""What an operation raised, and whose trouble that is: the one place that decides by an exception's type."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from stepward.domain.errors import Misconfigured, Transient

LONGEST_TEXT = 140
"""Characters of an exception's type and text that are kept."""


class Origin(StrEnum):
    """Where an exception comes from, as far as its type tells."""

    SERVICE = "service"
    """It is Transient, or of the transport: the service's own trouble."""
    SETTING = "setting"
    """It is Misconfigured."""
    UNKNOWN = "unknown"
    """Any other: the order's own if only one order meets it, the code's if several do."""


_TRANSPORT = frozenset(
    {
        "builtins.OSError",
        "http.client.HTTPException",
        "urllib3.exceptions.HTTPError",
        "botocore.exceptions.HTTPClientError",
        "botocore.exceptions.ConnectionError",
        "httpx.TransportError",
        "aiohttp.client_exceptions.ClientConnectionError",
        "grpc.RpcError",
    }
)
"""Whatever derives from one of these: connections, timeouts, DNS, TLS. Much else derives from OSError."""
_TRANSPORT_NAMES = frozenset(
    {"ConnectionError", "ConnectTimeout", "Timeout", "TimeoutError", "ReadTimeout", "APIConnectionError"}
)
"""The same by the name alone: libraries that the engine does not know call them so."""
_NO_TRANSPORT = frozenset(
    {
        "builtins.FileExistsError",
        "builtins.FileNotFoundError",
        "builtins.IsADirectoryError",
        "builtins.NotADirectoryError",
        "builtins.PermissionError",
        "urllib3.exceptions.LocationValueError",
    }
)
"""These derive from a transport error and are none: they are about files, or about an address that is wrong."""
_BUSY = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Fault:
    """An exception: `name` is its type, `text` the type with its message if that may be kept, `place` where it rose."""

    origin: Origin
    name: str
    text: str
    place: str = ""


def fault_of(error: BaseException, *, keep_text: bool = True, token: str = "") -> Fault:
    """What `error` is. Its message may hold personal data, so a deployment may keep the type's name alone."""
    name = type(error).__name__
    text = " ".join(f"{name}: {without(token, str(error))}".split()) if keep_text and str(error).strip() else name
    return Fault(_origin(error), name[:LONGEST_TEXT], text[:LONGEST_TEXT], _place(error))


def without(token: str, text: str) -> str:
    """The text without the callback token of a call: clients quote what they sent, and who reads it could answer."""
    return text.replace(token, "(a token)") if token else text


def short(*parts: object) -> str:
    """A short hash of an order, or of an attempt: what many instances count needs no names."""
    return hashlib.sha256("/".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:8]


def _origin(error: BaseException) -> Origin:
    if isinstance(error, Misconfigured):
        return Origin.SETTING
    if isinstance(error, Transient):
        return Origin.SERVICE
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in type(error).__mro__}
    if names & _NO_TRANSPORT:
        return Origin.UNKNOWN
    plain = {kind.__name__ for kind in type(error).__mro__}
    return Origin.SERVICE if names & _TRANSPORT or plain & _TRANSPORT_NAMES or _is_busy(error) else Origin.UNKNOWN


def _is_busy(error: BaseException) -> bool:
    """Whether it is an answer of AWS that says to come back: botocore has one type for all refusals."""
    answer: Any = getattr(error, "response", None)
    match answer:
        case {"ResponseMetadata": {"HTTPStatusCode": int(status)}} if status in _BUSY:
            return True
        case {"Error": {"Code": str(code)}}:
            return "Throttl" in code or code.startswith(("TooManyRequests", "ProvisionedThroughput"))
        case _:
            return False


def _place(error: BaseException) -> str:
    """File, line and function of the innermost frame: it tells two faults of one type apart."""
    trace = error.__traceback__
    if trace is None:
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code
    return f"{code.co_filename.replace(chr(92), '/').rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}"[
        :LONGEST_TEXT
    ]
