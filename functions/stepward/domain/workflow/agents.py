"""What a user writes of the outside: agents, their operations, and the calls that these get; and its rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import CodeType
from typing import Any, Never, NoReturn, cast, overload

from stepward.domain.arguments import a_name_such_as, check_arguments, said
from stepward.domain.errors import WorkflowError
from stepward.domain.timing import milliseconds

_AGENT_NAME = re.compile(r"[a-z][a-z0-9-]{0,29}")
LONGEST_SETTLE_MS = 3600 * 1000
_SECRET_NAME = re.compile(r"[A-Za-z0-9/_+=.@-]{1,256}")
_VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{1,99}")
_RESERVED = ("AWS_", "LAMBDA_", "POWERTOOLS_", "STEPWARD_")
MOST_MEMORY_MB = 10_240
_VARARGS, _GENERATOR, _ASYNC = 0x04, 0x20, 0x80 | 0x200
"""Flags of a function's code, as in `inspect`, whose import a start can do without."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an operation: what it works on, and how long it has.

    `order` is the submitted order, `results` the results of the steps done so far by step name; those over 2,000 bytes
    only of the steps that it comes after.
    `idempotency_key` is the same across all attempts of a step; `attempt` counts them from 1, and `fence` rises with
    each, so a remote service can refuse a caller that has been replaced.
    """

    order: Mapping[str, Any]
    results: Mapping[str, Mapping[str, Any]]
    idempotency_key: str
    fence: int
    attempt: int
    remaining: Callable[[], float]
    """Seconds until complete-by; zero or less when it has passed."""
    callback: str = ""
    """The token with which the service may answer later: a secret. Empty if the step has no `answer_within`."""
    item: Any = None
    """The item of the list that a step of an Each works on; the order comes without that list."""


@dataclass(frozen=True, slots=True)
class Later:
    """What an operation returns that has handed its work over: the service itself answers, with `call.callback`."""


Result = Mapping[str, Any] | Later
Run = Callable[[Call], Result]
Asks = Callable[[Call], Result | None]
"""A check: the result of the call with this idempotency key, if its effect stands; None if there is no such effect."""


@dataclass(frozen=True)
class Agent:
    """The wrapper of one remote service: its operations share a queue, a function and a concurrency."""

    name: str
    """1-30 lower-case letters, digits or '-', a letter first; it names the queue and the function."""
    max_concurrency: int = 10
    """How many calls of the service run at once at most, 2-1,000."""
    priority_queue: bool = False
    """Whether orders of high priority have a queue of their own, so that no backlog of others holds them up."""
    services: tuple[str, ...] | None = None
    """The services whose addresses it asks for (`service_url`); by default the one that has the agent's own name."""
    rate: float = 0
    """How many calls a second its service allows, kept by all instances together; 0 sets no limit."""
    settle: timedelta = timedelta(0)
    """How long after a call has ended its effect may take to show, for the check of a step; at most an hour."""
    secrets: tuple[str, ...] = ()
    """The secrets that its operations may read (`secret`), by their names in Secrets Manager."""
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Variables of its function."""
    memory_mb: int = 512
    """The memory of its function in MB, 128-10,240; with more of it, it gets more of a CPU."""

    def __post_init__(self) -> None:
        check_arguments(f"agent {self.name!r}", self, "name", "max_concurrency", "settle", "memory_mb", "services")
        check_agent_name(self.name, self.max_concurrency)
        check_rate(self.name, self.rate)
        check_settle(self.name, milliseconds(self.settle))
        check_agent_function(self.name, self.secrets, self.environment, self.memory_mb)

    @overload
    def operation(self, run: Asks) -> Operation: ...
    @overload
    def operation(self) -> Callable[[Asks], Operation]: ...
    def operation(self, run: Asks | None = None) -> Operation | Callable[[Asks], Operation]:
        """Make an operation of `run`, under its own name; used as a decorator. Only a check may return None."""
        if run is None:
            return self.operation
        check_function(self.name, run)
        return Operation(self, run.__name__, cast("Run", run))

    def __call__(self, *_: Never) -> NoReturn:
        """Refuse: as a decorator, it lacks its `.operation`."""
        raise WorkflowError(f"agent {self.name!r} is no decorator; write {_decorator(self.name)}")


@dataclass(frozen=True, slots=True)
class Operation:
    """A function that calls one remote service on behalf of one agent."""

    agent: Agent
    name: str
    run: Run

    def __call__(self, call: Call | None = None) -> Result:
        """Run it; raises WorkflowError without a call, which is a slip in a definition."""
        if call is None:
            raise WorkflowError(f"operation {self.name!r} is called without a Call; write {self.name}, without ()")
        return self.run(call)


def check_function(agent: str, run: Asks) -> None:
    """Refuse what no call can run, and a function that hides another operation of its module."""
    name = getattr(run, "__name__", "")
    if isinstance(run, Operation | type) or not name:
        raise WorkflowError(
            f"agent {agent!r}: an operation is made of a function with a name, not of {said(run)}; write "
            f"{_decorator(agent)} once, above def charge(call: Call)"
        )
    if code := getattr(run, "__code__", None):
        where = f"agent {agent!r}: operation {name!r}"
        if slip := _slip(run, code):
            raise WorkflowError(f"{where} {slip}; write def {name}(call: Call), which returns its result")
        hidden = getattr(run, "__globals__", {}).get(run.__qualname__)
        other = getattr(hidden.run, "__code__", code) if isinstance(hidden, Operation) else code
        if other.co_filename == code.co_filename and other.co_firstlineno != code.co_firstlineno:
            raise WorkflowError(f"{where} hides the operation of this name in line {other.co_firstlineno}; rename one")


def _decorator(agent: str) -> str:
    return f"@{agent.replace('-', '_')}.operation"


def _slip(run: Asks, code: CodeType) -> str:
    """Why a call cannot run a function with this code; "" if it can."""
    if code.co_flags & _ASYNC:
        return "is async, and an agent awaits nothing"
    if code.co_flags & _GENERATOR:
        return "yields, and nothing takes what it yields"
    given = code.co_argcount - hasattr(run, "__self__")
    if not (given or code.co_flags & _VARARGS):
        return "has no parameter for the call"
    needed = given - len(getattr(run, "__defaults__", None) or ())
    needed += code.co_kwonlyargcount - len(getattr(run, "__kwdefaults__", None) or ())
    return f"takes {needed} arguments, and gets one, the call, which has the order" if needed > 1 else ""


def check_name(where: str, name: str) -> None:
    """Refuse what cannot be the name of an agent or of an application: it names queues and a stack."""
    if not _AGENT_NAME.fullmatch(name):
        raise WorkflowError(
            f"{where}: a name is 1-30 lower-case letters, digits or '-', a letter first{a_name_such_as(name, 30, '-')}"
        )


def check_agent_name(name: str, max_concurrency: int) -> None:
    """Refuse an agent whose name cannot name a queue, or whose concurrency SQS would not take."""
    check_name(f"agent {name!r}", name)
    if not 2 <= max_concurrency <= 1000:
        raise WorkflowError(f"agent {name!r}: max_concurrency {max_concurrency} is outside 2-1000")


def check_rate(agent: str, rate: float) -> None:
    """Refuse a rate that is no number of calls a second, or that no slots can be made of."""
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not (rate == 0 or 0.01 <= rate <= 10_000):
        raise WorkflowError(f"agent {agent!r}: rate {rate!r} is outside 0.01-10,000 calls a second; 0 sets no limit")


def check_agent_function(name: str, secrets: Collection[str], environment: Mapping[str, str], memory_mb: int) -> None:
    """Refuse what an agent's function cannot have: a secret or a variable without a usable name, or such a memory."""
    if isinstance(secrets, str):
        raise WorkflowError(f"agent {name!r}: secrets {secrets!r} is one text; write secrets=({secrets!r},)")
    if not isinstance(environment, Mapping) or not all(isinstance(each, str) for each in environment.values()):
        raise WorkflowError(f'agent {name!r}: environment is texts by their names: environment={{"BANK_MODE": "test"}}')
    for each in secrets:
        if not _SECRET_NAME.fullmatch(each):
            raise WorkflowError(f"agent {name!r}: {each!r} is no secret's name: letters, digits and /_+=.@-")
    for variable in environment:
        if not _VARIABLE.fullmatch(variable) or variable.startswith(_RESERVED):
            raise WorkflowError(
                f"agent {name!r}: variable {variable!r}: a name is 2-100 letters, digits and '_', a letter first, and "
                f"does not begin with {', '.join(_RESERVED)}"
            )
    if not 128 <= memory_mb <= MOST_MEMORY_MB:
        raise WorkflowError(f"agent {name!r}: memory_mb {memory_mb} is outside 128-{MOST_MEMORY_MB}")


def check_settle(agent: str, settle: int) -> None:
    """Refuse a time in which no attempt could begin."""
    if not 0 <= settle <= LONGEST_SETTLE_MS:
        raise WorkflowError(f"agent {agent!r}: settle {settle} ms is outside 0 to {LONGEST_SETTLE_MS} ms")
