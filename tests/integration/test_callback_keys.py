"""The keys of callback tokens in Secrets Manager: W6."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
import time_machine
from botocore.exceptions import ClientError, EndpointConnectionError
from moto import mock_aws

from stepward.adapters.callback_keys import CallbackKeys
from stepward.app.scheduler.tokens import KEYS_LAST, REREAD_AFTER
from stepward.domain.errors import Misconfigured, StepwardError, Transient

START = datetime(2026, 11, 28, tzinfo=UTC)
FIRST, SECOND, THIRD = ("the first key of this secret....", "the second key of this secret...", "the third " * 4)
SINCE = int(START.timestamp() * 1000)


@pytest.fixture
def manager() -> Iterator[Any]:
    with mock_aws(), time_machine.travel(START, tick=False):
        yield boto3.client("secretsmanager", "us-east-1")


def keys(client: Any, now: int = SINCE) -> CallbackKeys:
    return CallbackKeys(lambda: client, "callbacks", lambda: now)


def test_a_new_secret_has_one_key(manager: Any) -> None:
    """No previous version is there before the first rotation."""
    manager.create_secret(Name="callbacks", SecretString=FIRST)
    assert keys(manager).read() == [FIRST.encode()]


@pytest.mark.parametrize(
    ("age", "order"), [(0, [FIRST, SECOND]), (KEYS_LAST, [FIRST, SECOND]), (KEYS_LAST + REREAD_AFTER, [SECOND, FIRST])]
)
def test_a_key_signs_once_every_scheduler_has_read_it(manager: Any, age: int, order: list[str]) -> None:
    """I11: a Scheduler that read the keys before would drop a genuine answer as forged."""
    manager.create_secret(Name="callbacks", SecretString=FIRST)
    manager.put_secret_value(SecretId="callbacks", SecretString=SECOND)
    assert keys(manager, SINCE + age).read() == [each.encode() for each in order]


def test_two_versions_are_in_force_and_no_third(manager: Any) -> None:
    manager.create_secret(Name="callbacks", SecretString=FIRST)
    for each in (SECOND, THIRD):
        manager.put_secret_value(SecretId="callbacks", SecretString=each)
    assert set(keys(manager).read()) == {SECOND.encode(), THIRD.encode()}


@pytest.mark.parametrize("stored", [{}, {"SecretString": "made up"}, {"SecretBinary": b"x" * 64}])
def test_a_secret_without_a_usable_key_is_for_the_deployment(manager: Any, stored: dict[str, Any]) -> None:
    """And no text of it is told."""
    manager.create_secret(Name="callbacks", **stored)
    with pytest.raises(Misconfigured, match="the secret callbacks") as told:
        keys(manager).read()
    assert "made up" not in str(told.value)


class Refusing:
    """A client whose call ends so."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def get_secret_value(self, **_: str) -> Any:
        raise self.error


@pytest.mark.parametrize(
    ("error", "meaning"),
    [
        (ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetSecretValue"), Misconfigured),
        (ClientError({"Error": {"Code": "ThrottlingException"}}, "GetSecretValue"), Transient),
        (ClientError({"Error": {"Code": "InternalServiceError"}}, "GetSecretValue"), Transient),
        (EndpointConnectionError(endpoint_url="https://nowhere"), Transient),
    ],
)
def test_what_aws_refuses_is_transient_or_for_the_deployment(error: Exception, meaning: type[StepwardError]) -> None:
    """Neither costs anybody an answer: the message comes back."""
    with pytest.raises(meaning, match="the secret callbacks"):
        keys(Refusing(error)).read()
