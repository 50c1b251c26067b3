"""Invokes a deployed function now, regardless of its schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from stepward.domain.errors import Transient

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


def wake(functions: LambdaClient, name: str) -> None:
    """Invoke function `name` with an empty event and wait for it; raises Transient if it fails."""
    try:
        answer = functions.invoke(FunctionName=name, InvocationType="RequestResponse", Payload=b"{}")
    except (BotoCoreError, ClientError) as error:
        raise Transient(f"{name} cannot be invoked: {error}") from error
    with answer["Payload"] as payload:
        text = payload.read().decode()
    if "FunctionError" in answer:
        raise Transient(f"{name} failed: {text}")
