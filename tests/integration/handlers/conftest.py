"""The functions as Lambda runs them, each with a warm start of its own per test."""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from aws_lambda_powertools import Metrics
from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber

from stepward.local.services import Services
from stepward.local.services.request import local_secret
from stepward.testing import known_secrets
from tests.integration import functions
from tests.integration.handlers.deployment import Deployment
from tests.shop import API_KEY


@dataclass(frozen=True)
class Log:
    """What the functions have written, log lines and metrics, one object per line; each method reads on."""

    capsys: pytest.CaptureFixture[str]

    def read(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.capsys.readouterr().out.splitlines()]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.read() if line.get("message") == kind]

    def kinds(self) -> list[str]:
        return [line["message"] for line in self.read() if "message" in line]

    def metrics(self) -> dict[str, Any]:
        (metrics,) = [line for line in self.read() if "_aws" in line]
        return metrics


def _cold_start() -> None:
    for function in functions.ALL:
        vars(function.handler).pop("worker", None)
    Metrics._metrics.clear()


def _one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads may call moto, but its transactions copy whole tables and cannot bear a write meanwhile."""
    answer, lock = BotocoreStubber.process_request, Lock()

    def locked(stubber: BotocoreStubber, request: Any) -> Any:
        with lock:
            return answer(stubber, request)

    monkeypatch.setattr(BotocoreStubber, "process_request", locked)


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Deployment]:
    """Whatever a function writes after this is in `log`."""
    capsys.readouterr()
    _cold_start()
    _one_at_a_time(monkeypatch)
    with mock_aws():
        deployed = Deployment.new()
        for name, value in deployed.env.items():
            monkeypatch.setenv(name, value)
        yield deployed
    _cold_start()
    logging.getLogger(deployed.env["POWERTOOLS_SERVICE_NAME"]).handlers.clear()


@pytest.fixture
def log(capsys: pytest.CaptureFixture[str]) -> Log:
    return Log(capsys)


@pytest.fixture
def services(tmp_path: Path, deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """The services on this machine, and the environment of the payments agent that calls them."""
    secrets = {"payments": [API_KEY]}
    with (
        Services(tmp_path / "ledger.sqlite", secrets=secrets) as running,
        known_secrets({API_KEY: local_secret(API_KEY)}),
    ):
        monkeypatch.setenv("STEPWARD_SERVICE_URLS", json.dumps({"payments": running.url("payments")}))
        monkeypatch.setenv("STEPWARD_AGENT", "payments")
        monkeypatch.setenv("STEPWARD_REQUESTS_QUEUE", deployment.queues["agent-payments"])
        yield running
        vars(functions.agent.handler).pop("worker", None)
