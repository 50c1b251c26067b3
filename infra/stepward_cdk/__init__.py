"""The infrastructure of a Stepward deployment: one stack, derived from an application's workflow.

A project's CDK app calls `synthesise`, or builds its own stacks from the other names.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stepward_cdk.functions.interpreter import prepare

if TYPE_CHECKING:
    from stepward_cdk.functions.bundling import Bundle, bundle
    from stepward_cdk.settings.settings import Settings
    from stepward_cdk.stack import StepwardStack
    from stepward_cdk.synthesis import synthesise

__all__ = ["Bundle", "Settings", "StepwardStack", "bundle", "synthesise"]

_HOMES = {
    "Bundle": "functions.bundling",
    "Settings": "settings.settings",
    "StepwardStack": "stack",
    "bundle": "functions.bundling",
    "synthesise": "synthesis",
}

# CDK looks for node as soon as it is imported.
prepare()


def __getattr__(name: str) -> Any:
    """Import a public name when somebody asks for it; CDK takes seconds to import."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
