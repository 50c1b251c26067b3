"""Errors that say what happens next.

StepwardError
├── Transient        try again later; the message goes back to its queue
│   ├── Conflict     somebody else kept writing first; read again and decide again
│   └── RetryLater   not now, though nothing failed; the message comes back after the time that it names
├── Permanent        trying again cannot help; the step ends in Error and an operator is alerted
├── Rejected         a message that can never be accepted; kept with field and reason
│   └── OtherCustomer  it names another customer than that of its order
├── Corrupt          a record that cannot be understood; the others go on, an operator looks at it
├── WorkflowError    a workflow definition that cannot work; fix the definition
└── Misconfigured    the deployment lacks a setting; fix the setting it names
"""


class StepwardError(Exception):
    """The root of everything that Stepward raises on purpose."""


class Transient(StepwardError):
    """Something outside failed for now; the same call may work later."""


class Conflict(Transient):
    """Every try lost the race for the record; the message will be delivered again."""


class RetryLater(Transient):
    """The message comes back after `seconds`; nothing was answered, so no attempt is used up."""

    def __init__(self, seconds: int, reason: str) -> None:
        super().__init__(f"{reason}; back in {seconds} s")
        self.seconds = seconds


class Permanent(StepwardError):
    """The remote service refused for good; an operator has to act, then `stepward resubmit`."""


class Rejected(StepwardError):
    """A message that cannot be accepted, with the field that is wrong and the reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class OtherCustomer(Rejected):
    """A message that names another customer than that of its order; the order stays untouched."""


class Corrupt(StepwardError):
    """A record in the state store that cannot be understood; the message names it and what is wrong."""


class WorkflowError(StepwardError):
    """A workflow definition that cannot work; the message names the fault."""


class Misconfigured(StepwardError):
    """A setting is missing or wrong; the message names it."""
