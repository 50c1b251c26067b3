"""Translates the errors of SQS, SNS and EventBridge into the engine's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from stepward.domain.errors import Misconfigured, NoSuchQueue, Transient

_NO_SUCH_QUEUE = frozenset({"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"})
_FIX_THE_DEPLOYMENT = frozenset(
    {
        "NotFound",
        "NotFoundException",
        "InvalidAddress",
        "InvalidSecurity",
        "AccessDenied",
        "AccessDeniedException",
        "AuthorizationError",
        "EndpointDisabled",
        "InvalidClientTokenId",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
        "KMSAccessDenied",
        "KMSDisabled",
        "KMSInvalidState",
        "KMSNotFound",
        "KMSOptInRequired",
        "KmsAccessDenied",
        "KmsDisabled",
        "KmsInvalidKeyUsage",
        "KmsInvalidState",
        "KmsNotFound",
        "KmsOptInRequired",
    }
)


@contextmanager
def translated(target: str) -> Iterator[None]:
    """Raise Misconfigured if the deployment has to be fixed, Transient for all else that botocore raises."""
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "no code")
        if code in _NO_SUCH_QUEUE | _FIX_THE_DEPLOYMENT:
            kind = NoSuchQueue if code in _NO_SUCH_QUEUE else Misconfigured
            raise kind(f"{target}: {code}; check that it exists and that this function may use it") from error
        raise Transient(f"{target}: {code}; send again") from error
    except BotoCoreError as error:
        raise Transient(f"{target}: {type(error).__name__}; send again") from error
