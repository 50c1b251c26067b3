"""Calls the remote services over HTTP."""

import json
from typing import Any

from urllib3 import PoolManager, Timeout
from urllib3.exceptions import HTTPError

from stepward import Call, Permanent, Transient, service_url

_HTTP = PoolManager()


def post(path: str, call: Call, **body: Any) -> dict[str, Any]:
    """Call the operation at `path` (`agent/operation`) once; an undo names the call that it reverses.

    A token is a header: each attempt has another one, and a body that differs under one key is refused.
    """
    agent, _, operation = path.partition("/")
    forward = call.idempotency_key.removesuffix("/undo")
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": call.idempotency_key,
        "Fence": str(call.fence),
        **({"Undo-Of": forward} if forward != call.idempotency_key else {}),
        **({"Callback": call.callback} if call.callback else {}),
    }
    url, left = f"{service_url(agent)}/{operation}", Timeout(total=max(0.1, call.remaining()))
    try:
        answer = _HTTP.request("POST", url, body=json.dumps(body), headers=headers, timeout=left, retries=False)
    except HTTPError as error:
        raise Transient(f"{path}: {type(error).__name__}") from None
    if answer.status >= 500:
        raise Transient(f"{path}: HTTP {answer.status}")
    if answer.status >= 400:
        raise Permanent(f"{path}: refused with HTTP {answer.status}")
    return dict(answer.json())
