"""The functions as Lambda runs them, each with a warm start of its own per test."""

import json
import logging
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any

import pytest
from aws_lambda_powertools import Metrics
from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber

import agent
import convoy
import ledger
import orders.remote
import scheduler
import submission
import supervisor
from tests.integration.handlers.deployment import Deployment

Told = Callable[[], list[dict[str, Any]]]


def _cold_start() -> None:
    for function in (submission, scheduler, agent, supervisor, ledger, convoy):
        vars(function.handler).pop("worker", None)
    orders.remote._pool().clear()
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
    """Whatever a function says after this can be read by `told`."""
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
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """What the functions have written since the last look, log lines and metrics, one object per line."""
    return lambda: [json.loads(line) for line in capsys.readouterr().out.splitlines()]
