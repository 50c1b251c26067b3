"""The secrets of an agent: read from Secrets Manager when an operation asks for one, and never written anywhere."""

from __future__ import annotations

import os
from functools import cache
from threading import Lock
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import get_session

from stepward.domain.errors import Misconfigured, Transient

DECLARED = "STEPWARD_SECRETS"
_LASTING = {"ResourceNotFoundException", "AccessDeniedException", "DecryptionFailure", "InvalidRequestException"}
known: dict[str, str] = {}
"""What this process has read, by name."""
_reading = Lock()
"""Requests are served in threads: one of them makes the client, and reads for all."""


def secret(name: str, *, again: bool = False) -> str:
    """The text of the secret `name`, which the agent declares: `Agent("bank", secrets=("bank/api-key",))`.

    It is read once in each environment of the function. If the service refuses it, it may have been rotated: ask
    `again`. Raises Misconfigured if it is not declared, or cannot be read, and Transient if it cannot be read for now.
    """
    if again or name not in known:
        before = known.get(name)
        with _reading:
            if known.get(name) == before:
                known[name] = _read(name)
    return known[name]


def _read(name: str) -> str:
    if name not in os.environ.get(DECLARED, "").split(","):
        raise Misconfigured(f"{name!r} is no secret of this agent; declare it: Agent(..., secrets=({name!r},))")
    try:
        answer = client().get_secret_value(SecretId=name)
    except ClientError as error:
        if (code := error.response["Error"]["Code"]) in _LASTING:
            raise Misconfigured(f"secret {name!r} cannot be read: {code}; create it, and check its key") from error
        raise Transient(f"secret {name!r} cannot be read for now: {code}") from error
    except BotoCoreError as error:
        raise Transient(f"secret {name!r} cannot be read for now: {type(error).__name__}") from error
    if not isinstance(text := answer.get("SecretString"), str):
        raise Misconfigured(f"secret {name!r} holds bytes; store a text")
    return text


@cache
def client() -> Any:
    """The client of this process, made when an operation asks for its first secret."""
    limits = Config(connect_timeout=1, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 3})
    return get_session().create_client("secretsmanager", region_name=os.environ["AWS_REGION"], config=limits)
