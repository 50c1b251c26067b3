"""Stepward: resilient multi-step order processing on AWS serverless.

This is all that an application imports. Each name is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepward.domain.errors import Misconfigured, Permanent, Rejected, Transient, WorkflowError
    from stepward.domain.timing import days, hours, minutes, seconds
    from stepward.domain.workflow.agents import Agent, Call, Later, Operation
    from stepward.domain.workflow.application import App
    from stepward.domain.workflow.children import Child, Each
    from stepward.domain.workflow.conditions import all_of, any_of, none_of
    from stepward.domain.workflow.definition import Fallback, RetryAfter, Step, Workflow
    from stepward.domain.workflow.plan import ALERT, UNDO
    from stepward.domain.workflow.refs import ref
    from stepward.domain.workflow.waits import Default, Remind, Signal, Timer
    from stepward.secrets import secret
    from stepward.service_urls import service_url
    from stepward.wire.envelope import Ignored
    from stepward.wire.order import OrderMessage, ShortText
    from stepward.wire.order_event import EventMessage
    from stepward.wire.source import Source

_NAMES = {
    "stepward.domain.workflow.application": "App",
    "stepward.domain.workflow.children": "Child Each",
    "stepward.domain.workflow.conditions": "all_of any_of none_of",
    "stepward.domain.workflow.refs": "ref",
    "stepward.domain.errors": "Misconfigured Permanent Rejected Transient WorkflowError",
    "stepward.domain.workflow.plan": "ALERT UNDO",
    "stepward.domain.workflow.agents": "Agent Call Later Operation",
    "stepward.domain.workflow.definition": "Fallback RetryAfter Step Workflow",
    "stepward.domain.timing": "days hours minutes seconds",
    "stepward.domain.workflow.waits": "Default Remind Signal Timer",
    "stepward.secrets": "secret",
    "stepward.service_urls": "service_url",
    "stepward.wire.order": "OrderMessage ShortText",
    "stepward.wire.envelope": "Ignored",
    "stepward.wire.order_event": "EventMessage",
    "stepward.wire.source": "Source",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "ALERT",
    "UNDO",
    "Agent",
    "App",
    "Call",
    "Child",
    "Default",
    "Each",
    "EventMessage",
    "Fallback",
    "Ignored",
    "Later",
    "Misconfigured",
    "Operation",
    "OrderMessage",
    "Permanent",
    "Rejected",
    "Remind",
    "RetryAfter",
    "ShortText",
    "Signal",
    "Source",
    "Step",
    "Timer",
    "Transient",
    "Workflow",
    "WorkflowError",
    "all_of",
    "any_of",
    "days",
    "hours",
    "minutes",
    "none_of",
    "ref",
    "seconds",
    "secret",
    "service_url",
]


if not TYPE_CHECKING:  # or any name would pass for a public one

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"stepward has no public name {name!r}; it has {', '.join(__all__)}")
        found: object = getattr(import_module(_HOMES[name]), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return __all__
