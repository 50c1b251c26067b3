"""Conditional writes, which replace only what was read, and recognise an own write whose answer was lost.

The SDK repeats a write whose answer was lost, and the repeat fails on the first one's success. So each write carries
its own id, and a writer whose condition failed reads whose id is stored (decision 0003).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pynamodb.connection import Connection
from pynamodb.exceptions import PutError, TransactWriteError
from pynamodb.expressions.condition import Condition
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite

from stepward.adapters.dynamodb.failures import CONDITION, CONFLICT, lost_the_condition, meaning, reasons
from stepward.domain.errors import Transient

TRIES = 3

Put = tuple[Model, Condition | None]


class Written(Protocol):
    """An item that carries the id of the write that made it."""

    write_id: str


def put_if(item: Model, condition: Condition, what: str) -> bool:
    """Put the item if the condition holds; whether it did. Raises Transient or Rejected, which say `what` was tried."""
    try:
        item.save(condition=condition)
    except PutError as error:
        if not lost_the_condition(error):
            raise meaning(error, what) from error
        return False
    return True


def put_all_if(connection: Connection, puts: Sequence[Put], what: str) -> bool:
    """Put all items or none, in one transaction, if every condition holds; see `put_if`."""
    for _ in range(TRIES):
        try:
            with TransactWrite(connection=connection) as transaction:
                for item, condition in puts:
                    transaction.save(item, condition=condition)
        except TransactWriteError as error:
            found = reasons(error)
            if CONDITION in found:
                return False
            if not set(found) <= {CONFLICT, "None"}:
                raise meaning(error, what) from error
        else:
            return True
    raise Transient(f"{what}: {TRIES} transactions conflicted with others; the message will come again")


def is_own(found: Written | None, write_id: str) -> bool:
    """Whether the item found after a failed condition was put by the write of this id."""
    return found is not None and found.write_id == write_id
