"""What S3's errors mean to the core."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from stepward.domain.errors import Misconfigured, Transient

GONE = frozenset({"404", "NoSuchKey", "NotFound"})
PAST_THE_END = frozenset({"416", "InvalidRange"})
_CHANGED = frozenset({"412", "PreconditionFailed"})
_FIX_THE_DEPLOYMENT = frozenset({"403", "AccessDenied", "NoSuchBucket", "InvalidAccessKeyId", "SignatureDoesNotMatch"})


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Translate all errors but those about the object itself: it is gone, has changed, or has ended."""
    try:
        yield
    except ClientError as error:
        code = code_of(error)
        if code in GONE | _CHANGED | PAST_THE_END:
            raise
        if code in _FIX_THE_DEPLOYMENT:
            raise Misconfigured(f"{what}: {code}; check the rights of who read or wrote it") from error
        raise Transient(f"{what}: {code}; try again") from error
    except BotoCoreError as error:
        raise Transient(f"{what}: {type(error).__name__}; try again") from error


def code_of(error: ClientError) -> str:
    """The error's code."""
    return str(error.response.get("Error", {}).get("Code", "no code"))
