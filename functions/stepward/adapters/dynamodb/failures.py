"""What DynamoDB's errors mean to the core; the one place that reads their codes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.exceptions import PynamoDBException, TransactWriteError

from stepward.domain.errors import Rejected, StepwardError, Transient

CONDITION = "ConditionalCheckFailed"
CONFLICT = "TransactionConflict"
_HOPELESS = {
    "ValidationError",
    "ValidationException",
    "ItemCollectionSizeLimitExceeded",
    "ItemCollectionSizeLimitExceededException",
}


@contextmanager
def translated(what: str) -> Iterator[None]:
    """Turn DynamoDB's errors inside into Transient or Rejected, whose text says `what` was tried."""
    try:
        yield
    except (PynamoDBException, ClientError, BotoCoreError) as error:
        raise meaning(error, what) from error


def meaning(error: Exception, what: str) -> StepwardError:
    """Rejected if DynamoDB can never take the request, else Transient: throttled, conflicting or out of reach."""
    codes = reasons(error)
    if any(code in _HOPELESS for code in codes):
        return Rejected("(record)", f"{what}: DynamoDB refuses it ({', '.join(codes)})")
    return Transient(f"{what}: {', '.join(codes)}")


def reasons(error: Exception) -> list[str]:
    """All reasons of a cancelled transaction; of any other error its one code."""
    if isinstance(error, TransactWriteError) and (listed := _cancelled(error)):
        return listed
    if isinstance(error, PynamoDBException):
        return [_code(error) or type(error.cause or error).__name__]
    if isinstance(error, ClientError):
        return [error.response["Error"].get("Code", "Unknown")]
    return [type(error).__name__]


def _cancelled(error: TransactWriteError) -> list[str]:
    return [reason.code if reason else "None" for reason in error.cancellation_reasons]


def lost_the_condition(error: PynamoDBException) -> bool:
    """Whether a single write failed because its condition did not hold."""
    return _code(error) == "ConditionalCheckFailedException"


def _code(error: PynamoDBException) -> str:
    """The error's code; "" without an answer from DynamoDB, where pynamodb's `cause_response_code` raises."""
    return error.cause.response["Error"].get("Code", "") if isinstance(error.cause, ClientError) else ""
