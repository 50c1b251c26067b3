"""What to do about a call that AWS denied: renew the credentials, or get the policy that allows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepward.operator.rights.policies import narrowest

EXPIRED = frozenset(
    {
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
DENIED = frozenset({"AccessDenied", "AccessDeniedException", "AuthorizationError", "AuthorizationErrorException"})
_OF_ONE = "Batch"
"""A batch in SQS needs the right to do it with one message."""


def advice(error: BaseException) -> str:
    """What to do if this error comes from a call that AWS denied, in a sentence; "" if it does not."""
    for each in _causes(error):
        answer: Any = getattr(each, "response", None)
        code = answer["Error"].get("Code", "") if isinstance(answer, dict) and "Error" in answer else ""
        if code in EXPIRED:
            return f"AWS does not accept these credentials ({code}). Renew them, or name others with AWS_PROFILE."
        if code in DENIED:
            return _allowed_by(str(getattr(each, "operation_name", "")).removesuffix(_OF_ONE))
    return ""


def _allowed_by(action: str) -> str:
    if found := narrowest(action):
        policy, right = found
        return f"These credentials lack {right}. Ask for the policy that `stepward policy {policy}` prints."
    return f"These credentials may not do {action or 'this'}. Ask whoever manages the account's IAM for it."


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and all that led to it; pynamodb keeps the SDK's own error in an attribute."""
    found: BaseException | None = error
    while found is not None:
        yield found
        kept = getattr(found, "cause", None)
        found = found.__cause__ or (kept if isinstance(kept, BaseException) else None)
