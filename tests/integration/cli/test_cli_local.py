"""`stepward local up` and `down`: what they leave running, and what they say."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from typer.testing import CliRunner

from stepward.cli.deployment.options import Target
from stepward.cli.local import commands
from stepward.cli.main import app
from stepward.domain.errors import Misconfigured
from stepward.local import cloud as clouds
from stepward.local import processes, synth
from stepward.local.cloud import RunningCloud
from stepward.project import APP


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningCloud]:
    """The local cloud of this project, in a folder of its own."""
    cloud = RunningCloud(tmp_path)
    monkeypatch.setattr(processes, "running_cloud", lambda: cloud)
    monkeypatch.setenv(APP, "tests.shop:app")
    yield cloud
    processes.stop_all(cloud)


def test_without_the_cdk_it_says_what_to_use_and_starts_nothing(
    cloud: RunningCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synth, "find_spec", lambda _: None)
    refused = CliRunner().invoke(app, ["local", "up"])
    assert (refused.exit_code, refused.stderr.count("\n")) == (1, 1)
    assert ".venv/bin/stepward" in refused.stderr
    assert "pip install 'stepward[local]'" in refused.stderr
    assert not any(cloud.folder.iterdir())


@pytest.mark.parametrize(
    ("library", "typed"),
    [(None, "browser: make console\n"), ("nicegui", "browser: stepward console --local\n")],
)
def test_what_to_type_next_works_without_the_console_installed(
    library: str | None, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "find_spec", lambda _: library)
    assert typed in commands.what_next(Target("stepward", local=True))


@pytest.mark.cloud
def test_a_stack_that_cannot_be_synthesised_leaves_nothing_running(
    cloud: RunningCloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> str:
        assert cloud.server
        raise Misconfigured("no such step")

    monkeypatch.setattr(synth, "synthesise", fails)
    assert CliRunner().invoke(app, ["local", "up"]).stderr == "stepward: no such step\n"
    assert [file.name for file in cloud.folder.iterdir() if not file.name.startswith("removed-")] == ["cloud.log"]


def test_files_that_take_long_to_remove_keep_nobody_waiting(
    cloud: RunningCloud, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither this process nor whoever reads its output."""
    (cloud.folder / "home" / "tmp").mkdir(parents=True)
    monkeypatch.setattr("stepward.local.server.REMOVE_WITHIN_S", 5)
    monkeypatch.setattr(clouds, "REMOVE", ("/bin/ls", "-d"))
    monkeypatch.setattr(RunningCloud, "server", property(lambda _: None))
    cloud.down()
    assert ([file.name[:8] for file in cloud.folder.iterdir()], cloud.is_removing) == (["removed-"], True)
    assert capfd.readouterr().out == ""
    monkeypatch.undo()
    monkeypatch.setattr("stepward.local.server.REMOVE_WITHIN_S", -1)
    cloud.down()
    assert any(not cloud.is_removing or Event().wait(0.1) for _ in range(50))
