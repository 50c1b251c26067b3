"""What needs no synthesis is told before it."""

import os

import pytest
from typer.testing import CliRunner

from stepward.cli.deploy_check import command
from stepward.cli.main import app


def test_a_missing_region_is_told_before_the_synthesis(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setattr(command, "_synthesised", lambda _: pytest.fail("it was synthesised"))

    assert "no AWS region is set" in CliRunner().invoke(app, ["deploy-check", "--env", "dev"]).stderr
