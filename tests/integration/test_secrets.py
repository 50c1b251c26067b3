"""An agent's secrets are read once, from Secrets Manager."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError
from typing import Any

import boto3
import pytest
from moto import mock_aws

from stepward import secrets
from stepward.domain.errors import Misconfigured
from stepward.secrets import DECLARED, secret
from stepward.testing import known_secrets
from tests.shop import API_KEY


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Secrets Manager, an agent that declares its secret, and a process that has read none."""
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv(DECLARED, f"{API_KEY},other")
    secrets.client.cache_clear()  # a cold start
    with mock_aws(), known_secrets({}):
        yield boto3.client("secretsmanager")
    secrets.client.cache_clear()  # it belongs to the cloud that is gone


def test_a_secret_is_read_once_and_again_when_somebody_asks(manager: Any) -> None:
    """D4: no call on the ordinary path, and a way out when it is rotated."""
    manager.create_secret(Name=API_KEY, SecretString="first")
    assert secret(API_KEY) == "first"
    manager.put_secret_value(SecretId=API_KEY, SecretString="second")
    assert secret(API_KEY) == "first"
    assert secret(API_KEY, again=True) == secret(API_KEY) == "second"


@pytest.mark.parametrize("again", [False, True], ids=["in a new process", "once it was rotated"])
def test_one_thread_reads_a_secret_for_all(monkeypatch: pytest.MonkeyPatch, *, again: bool) -> None:
    """Five requests come at once, and each call to Secrets Manager is billed."""
    reads, together = list[str](), Barrier(5)

    def read(name: str) -> str:
        reads.append(name)
        with suppress(BrokenBarrierError):
            together.wait(timeout=0.2)  # so long, all would have come here
        return "new"

    monkeypatch.setattr(secrets, "_read", read)
    with known_secrets({API_KEY: "old"} if again else {}), ThreadPoolExecutor(5) as threads:
        asked = [threads.submit(secret, API_KEY, again=again) for _ in range(5)]

        assert [each.result() for each in asked] == ["new"] * 5
    assert reads == [API_KEY]


def test_a_secret_that_is_not_declared_or_not_there_is_a_setting_that_is_wrong(manager: Any) -> None:
    """D4: it says what to do, and holds nothing of what is secret."""
    with pytest.raises(Misconfigured, match=r"declare it: Agent\(..., secrets=\('mine',\)\)"):
        secret("mine")
    with pytest.raises(Misconfigured, match="ResourceNotFoundException; create it"):
        secret(API_KEY)
    manager.create_secret(Name="other", SecretBinary=b"bytes")
    with pytest.raises(Misconfigured, match="store a text"):
        secret("other")
