"""Hooks on the SDK: they see every call that a function makes, whichever library makes it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import boto3
from botocore import handlers

from stepward.cli.cost.meter import Meter

_REQUEST = "benchmark.request"


def _before_call(params: Mapping[str, Any], context: dict[str, Any], **_: object) -> None:
    context[_REQUEST] = params


def _after_call(meter: Meter, parsed: Mapping[str, Any], model: Any, context: dict[str, Any], **_: object) -> None:
    if meter.function and _REQUEST in context:
        meter.called(model.name, context.pop(_REQUEST), parsed)


@contextmanager
def metered() -> Iterator[Meter]:
    """A meter on every client that is made inside."""
    meter = Meter()
    hooks = [("before-parameter-build", _before_call), ("after-call", partial(_after_call, meter))]
    handlers.BUILTIN_HANDLERS.extend(hooks)
    before, boto3.DEFAULT_SESSION = boto3.DEFAULT_SESSION, None
    try:
        yield meter
    finally:
        boto3.DEFAULT_SESSION = before
        for hook in hooks:
            handlers.BUILTIN_HANDLERS.remove(hook)
