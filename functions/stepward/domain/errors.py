"""Errors that say what happens next.

StepwardError
├── Transient        try again later; the message goes back to its queue
│   ├── Conflict     somebody else kept writing first; read again and decide again
│   ├── HalfAlerted  people have the alert, machines do not; only machines get it again
│   ├── RetryLater   not now, though nothing failed; the message comes back after the time that it names
│   └── NotUnderstood  newer code wrote it; it waits, as it is, for code that knows it
│       └── NewerPlan  a task that is understood but for its plan (domain/task/record.py)
├── Permanent        trying again cannot help; the step ends in Error and an operator is alerted
├── Rejected         a message that can never be accepted; kept with field and reason
│   └── OtherCustomer  it names another customer than that of its order
├── Forged           a callback token that no key of the deployment made; it is counted and dropped
├── Untellable       a condition or an instant that cannot be told from the data; the step ends in Error
├── Corrupt          a record that cannot be understood; the others go on, an operator looks at it
├── WorkflowError    a workflow definition that cannot work; fix the definition
└── Misconfigured    the deployment lacks a setting; fix the setting it names
    └── NoSuchQueue  the queue of a setting does not exist
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TypeVar

Kind = TypeVar("Kind", bound=Enum)
LONGEST_FIELD, LONGEST_REASON = 200, 1_000
"""What a rejection says, at most: a sender can make the names and the values that it quotes as long as a message."""
_QUOTED = re.compile(r"'(\w+)'")


class StepwardError(Exception):
    """The root of everything that Stepward raises on purpose."""


class Transient(StepwardError):
    """Something outside failed for now; the same call may work later."""


class Conflict(Transient):
    """Every try lost the race for the record; the message will be delivered again."""


class HalfAlerted(Transient):
    """People have been alerted, and machines have not; its cause says why."""


class RetryLater(Transient):
    """The message comes back after `seconds`; nothing was answered, so no attempt is used up."""

    def __init__(self, seconds: int, reason: str) -> None:
        super().__init__(f"{reason}; back in {seconds} s")
        self.seconds = seconds


class NotUnderstood(Transient):
    """Newer code wrote `what`, and this code does not know it; deploy newer code. Nothing is guessed, nothing deleted.

    `since` (epoch ms) is when it was due, if that is known.
    """

    def __init__(self, what: str, since: int | None = None) -> None:
        super().__init__(f"{what}, which this code does not know; deploy code that does")
        self.what = what
        self.since = since

    def of(self, record: str, since: int | None = None) -> NotUnderstood:
        """The same of a named record."""
        return NotUnderstood(f"{record}: {self.what}", since)


class Permanent(StepwardError):
    """The remote service refused for good; an operator has to act, then `stepward resubmit`."""


class Rejected(StepwardError):
    """A message that cannot be accepted, with the field that is wrong and the reason; both are cut if they are long."""

    def __init__(self, field: str, reason: str) -> None:
        field, reason = shortened(field, LONGEST_FIELD), shortened(reason, LONGEST_REASON)
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class OtherCustomer(Rejected):
    """A message that names another customer than that of its order; the order stays untouched."""


class Forged(StepwardError):
    """A callback token that no key of the deployment made. Nothing was read for it."""


class Untellable(StepwardError):
    """A condition or an instant that the data at hand does not tell; the message names the field."""


class Corrupt(StepwardError):
    """A record in the state store that cannot be understood; the message names it and what is wrong."""


class WorkflowError(StepwardError):
    """A workflow definition that cannot work; the message names the fault."""


class Misconfigured(StepwardError):
    """A setting is missing or wrong; the message names it."""


class NoSuchQueue(Misconfigured):
    """The queue does not exist; the message names it."""


Unreadable = Corrupt | NotUnderstood
"""A record that this code cannot read: damaged, or newer."""


def shortened(text: str, most: int) -> str:
    """`text` if it has at most so many characters; else its beginning, with its length."""
    if len(text) <= most:
        return text
    said = f"... ({len(text):,} characters)"
    return text[: most - len(said)] + said


def known(kinds: type[Kind], name: str, what: str) -> Kind:
    """The kind of this name; raises NotUnderstood, of `what`, for one that only newer code can have written."""
    try:
        return kinds(name)
    except ValueError as error:
        if isinstance(name, str):
            raise NotUnderstood(f"{what} {name!r}") from error
        raise


def wrong_with(error: Exception) -> str:
    """What is wrong with a record whose reading raised this, in words that name no part of the code."""
    if isinstance(error, StepwardError):
        return str(error)
    missing = repr(error.args[0]) if isinstance(error, KeyError) else str(error).partition(" missing ")[2]
    lacks = ", ".join(_QUOTED.findall(missing))
    return f"it lacks {lacks}" if lacks else "a field holds what it cannot hold"
