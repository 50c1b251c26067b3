import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic

import boto3
import psutil
import pytest

from stepward.domain.errors import Misconfigured
from stepward.local import server as servers
from stepward.local.access import access
from stepward.local.cloud import RunningCloud, local_cloud
from stepward.local.server import STOP_WITHIN_S, CloudFailed, Server

pytestmark = pytest.mark.cloud

OWNER = """
import sys
from pathlib import Path
from stepward.local.cloud import local_cloud
with local_cloud(log=Path(sys.argv[1])) as server:
    print(server.pid, server.port, server.created_at, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RunningCloud]:
    cloud = RunningCloud(tmp_path / ".local")
    yield cloud
    cloud.down()


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(  # noqa: S603 -- our own interpreter
        [sys.executable, "-c", OWNER, str(tmp_path / "log")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as process:
        yield process
        process.kill()


def test_a_cloud_serves_aws_on_the_loopback_address_only(cloud: Server) -> None:
    queues = boto3.client("sqs", **access(cloud.endpoint))

    url = queues.create_queue(QueueName="here")["QueueUrl"]

    assert url.startswith("http://127.0.0.1:")
    listening = psutil.Process(cloud.pid).net_connections("inet")
    assert {it.laddr.ip for it in listening if it.status == psutil.CONN_LISTEN} == {"127.0.0.1"}


def test_leaving_the_block_stops_the_process_and_removes_its_files(tmp_path: Path) -> None:
    with local_cloud(log=tmp_path / "log") as server:
        home = Path(psutil.Process(server.pid).environ()["HOME"])
        assert home.is_dir()

    assert not server.is_running
    assert not home.exists()


def test_files_that_take_long_to_remove_do_not_hold_up_the_end_of_the_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "GUARD", 'read -r _; sleep 3; rm -rf -- "$2"')
    with local_cloud(log=tmp_path / "log") as server:
        home, ended = Path(psutil.Process(server.pid).environ()["HOME"]), monotonic()

    assert monotonic() - ended < 3
    assert (server.is_running, home.exists()) == (False, False)


def test_an_error_in_the_block_stops_the_process_too(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), local_cloud(log=tmp_path / "log") as server:
        raise KeyboardInterrupt

    assert not server.is_running


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda it: it.name)
def test_a_cloud_never_outlives_its_owner(owner: subprocess.Popen[str], blow: signal.Signals) -> None:
    assert owner.stdout
    pid, port, created_at = owner.stdout.readline().split()
    server = Server(int(pid), int(port), float(created_at))
    assert server.is_running

    owner.send_signal(blow)
    owner.wait()

    with suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
        psutil.Process(server.pid).wait(timeout=5)
    assert not server.is_running


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(CloudFailed, match=f"port {port} is taken"), local_cloud(log=tmp_path / "log", port=port):
            pass


def test_a_missing_environment_says_how_to_make_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPWARD_LOCAL_PYTHON_ENV", str(tmp_path))

    with pytest.raises(Misconfigured, match="make local-env"), local_cloud(log=tmp_path / "log"):
        pass


def test_a_cloud_that_cannot_start_shows_the_end_of_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "env" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho this environment is broken\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setenv("STEPWARD_LOCAL_PYTHON_ENV", str(tmp_path / "env"))

    with pytest.raises(CloudFailed, match="this environment is broken"), local_cloud(log=tmp_path / "log"):
        pass


def test_a_running_cloud_is_started_once_and_found_again(running: RunningCloud) -> None:
    first = running.up()

    assert running.up() == first
    assert RunningCloud(running.folder).server == first


def test_a_running_cloud_goes_down_with_its_files(running: RunningCloud) -> None:
    server = running.up()

    assert running.down()
    assert not running.down()
    assert not server.is_running
    assert running.server is None
    assert [it.name for it in running.folder.iterdir()] == ["cloud.log"]


def test_a_cloud_that_died_is_not_taken_for_a_running_one(running: RunningCloud) -> None:
    dead = running.up()
    os.killpg(dead.pid, signal.SIGKILL)
    psutil.Process(dead.pid).wait(timeout=5)

    assert running.server is None
    assert running.up().pid != dead.pid


def test_another_process_under_the_same_id_is_left_alone(running: RunningCloud) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True) as other:
        running.folder.mkdir()
        (running.folder / "cloud.json").write_text(json.dumps({"pid": other.pid, "port": 1, "created_at": 1.0}))

        assert running.server is None
        assert not running.down()
        assert other.poll() is None


def test_a_dead_process_that_nobody_asks_for_keeps_nobody_waiting() -> None:
    nobody_asks = (
        "import subprocess, sys; print(subprocess.Popen(['sleep', '60'], start_new_session=True).pid); input()"
    )
    with subprocess.Popen([sys.executable, "-c", nobody_asks], stdin=-1, stdout=-1, text=True) as parent:  # noqa: S603
        assert parent.stdout
        pid = int(parent.stdout.readline())
        process = psutil.Process(pid)
        began = monotonic()
        Server(pid, 1, process.create_time()).stop()
        assert monotonic() - began < STOP_WITHIN_S
        assert process.status() == psutil.STATUS_ZOMBIE
        parent.kill()


@pytest.mark.parametrize("state", ["", "[]", "{}", "null"])
def test_a_damaged_state_file_reads_as_no_cloud(running: RunningCloud, state: str) -> None:
    running.folder.mkdir()
    (running.folder / "cloud.json").write_text(state)

    assert running.server is None
