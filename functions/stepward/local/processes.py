"""The processes that `stepward local up` leaves running: the cloud, and the remote services of its agents."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from stepward.domain.errors import Misconfigured
from stepward.local.cloud import RunningCloud
from stepward.local.server import CloudFailed, Server
from stepward.project import Project

_IMPORT_ROOT = Path(__file__).resolve().parents[2]


def running_cloud() -> RunningCloud:
    """The local cloud of this project, running or not; outside of a project, one that never runs."""
    try:
        return RunningCloud(Project.here().root / ".local")
    except Misconfigured:
        return RunningCloud(Path(".local"))


@dataclass(frozen=True, slots=True)
class RunningServices:
    """The process of the remote services' stand-ins; `folder` holds its state, its ledger and its log."""

    folder: Path

    @property
    def server(self) -> Server | None:
        """The running process; None if there is none."""
        return Server.load(self._state)

    @property
    def ledger(self) -> Path:
        """The file of what they did."""
        return self.folder / "ledger.sqlite"

    def up(self, secrets: Mapping[str, Sequence[str]] | None = None) -> Server:
        """The running process, started if there is none, with the secrets to demand; raises CloudFailed."""
        if running := self.server:
            return running
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / "log"
        demand = ["--secrets", json.dumps(secrets)] if secrets else []
        with log.open("ab") as errors:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-m", "stepward.local.services", "--ledger", str(self.ledger.absolute()), *demand],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=_IMPORT_ROOT,
                start_new_session=True,
                text=True,
            )
        server = _listening(process, log)
        # The services outlive this process on purpose, so nobody waits for them.
        process.returncode = 0
        server.save(self._state)
        return server

    def down(self) -> None:
        """Stop the process, if it runs, and remove its files."""
        if running := self.server:
            running.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _state(self) -> Path:
        return self.folder / "process.json"


def services_of(cloud: RunningCloud) -> RunningServices:
    """The stand-ins that run beside `cloud`."""
    return RunningServices(cloud.folder / "services")


def stop_all(cloud: RunningCloud) -> bool:
    """Stop `cloud` and its services, and remove their files; False if no cloud was running."""
    services_of(cloud).down()
    return cloud.down()


@contextmanager
def left_running(cloud: RunningCloud) -> Iterator[None]:
    """Leave running what the block starts, unless it fails; what ran before runs on."""
    ran = cloud.server is not None
    try:
        yield
    except BaseException:
        if not ran:
            stop_all(cloud)
        raise


def _listening(process: subprocess.Popen[str], log: Path) -> Server:
    """The server of `process`, which prints its address as its first line."""
    line = ""
    if process.stdout:
        with process.stdout as output:
            line = output.readline()
    if not (port := urlsplit(line.strip()).port):
        process.kill()
        process.wait()
        raise CloudFailed(f"the remote services did not start; see {log}")
    return Server(process.pid, port, psutil.Process(process.pid).create_time())
