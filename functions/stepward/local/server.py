"""The process of a local cloud: ministack in its own environment and process group."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic

import psutil
import urllib3

from stepward.domain.errors import Misconfigured, StepwardError

LOOPBACK = "127.0.0.1"
START_WITHIN_S = 30
STOP_WITHIN_S = 5
STOP_POLL_S = 0.05
REMOVE_WITHIN_S = 0.5
"""Each process of a function has a copy of the bundle: tens of thousands of files, minutes on a busy disk."""
TRIES = 3
MINISTACK = "ministack==1.5.33"
INSTALL = f"make local-env` or `python -m venv .venv-local && .venv-local/bin/pip install {MINISTACK}"
# Kills the process group $1 and removes the folder $2 once standard input closes; the system closes it when this
# process ends, in whatever way.
GUARD = 'read -r _; kill -s KILL -- "-$1" 2>/dev/null; rm -rf -- "$2"'


class CloudFailed(StepwardError):
    """The local cloud did not start, or it stopped; the message says why."""


@dataclass(frozen=True, slots=True)
class Server:
    """A started ministack: its process id (also its group's), the port it serves, and when it was created (epoch s)."""

    pid: int
    port: int
    created_at: float

    @property
    def endpoint(self) -> str:
        """The URL of every AWS service."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def is_running(self) -> bool:
        """Whether this process is alive, and its id has not gone to another process since."""
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(self.pid)
            # A correction of the system clock moves creation times a little.
            same = abs(process.create_time() - self.created_at) < 2
            return same and process.status() != psutil.STATUS_ZOMBIE
        return False

    def save(self, state: Path) -> None:
        """Write the process to the file `state`, for later commands."""
        # Renamed into place, so that a reader never sees half of it.
        draft = state.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self)))
        draft.replace(state)

    @staticmethod
    def load(state: Path) -> Server | None:
        """The process that `save` wrote, if it still runs."""
        with suppress(FileNotFoundError, ValueError, TypeError):
            server = Server(**json.loads(state.read_text()))
            return server if server.is_running else None
        return None

    def stop(self) -> None:
        """Kill the process and its functions, if it runs, and wait until it is gone."""
        if not self.is_running:
            return
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        give_up_at = monotonic() + STOP_WITHIN_S
        # A dead process keeps its id until its parent asks for it, which that of an orphan may do late or never.
        while self.is_running and monotonic() < give_up_at:
            with suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
                psutil.Process(self.pid).wait(STOP_POLL_S)


def start(home: Path, log: Path, *, port: int = 0, functions_reach: str = "") -> tuple[Server, subprocess.Popen[bytes]]:
    """Start ministack with its files in `home` and its output in `log`, and wait until it is healthy.

    Port 0 takes any free port. `functions_reach` is the endpoint that its functions use for AWS, if not the cloud's
    own. Raises CloudFailed.
    """
    python = installed(".venv-local", "STEPWARD_LOCAL_PYTHON_ENV", INSTALL)
    around = {"AWS_ENDPOINT_URL": functions_reach} if functions_reach else {}
    if port and not _is_free(port):
        raise CloudFailed(f"port {port} is taken; choose another one, or leave out --port for any free one")
    for _ in range(1 if port else TRIES):
        server, process = _launch(python, home, log, port or free_port(), around)
        try:
            if _becomes_healthy(server, process):
                return server, process
        except BaseException:
            server.stop()
            raise
        server.stop()
        process.wait()
    raise CloudFailed(f"the local cloud did not start; the end of {log}:\n{_tail(log)}")


@contextmanager
def guarded(server: Server, home: Path) -> Iterator[None]:
    """Kill `server` and remove the folder of `home` at the end of the block, even if this process is killed in it.

    `home` is gone at the end; the removal of its files, if it takes long, goes on in the background.
    """
    command = ["/bin/sh", "-c", GUARD, "sh", str(server.pid), str(home.parent)]
    guard = subprocess.Popen(  # noqa: S603 -- a constant script
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        server.stop()
        home.rename(home.with_name("removed"))
        left_to_end(guard)


def left_to_end(removal: subprocess.Popen[bytes]) -> None:
    """Close its standard input, and wait a moment; it may outlive this process on purpose, so nobody waits for it."""
    with suppress(subprocess.TimeoutExpired):
        removal.communicate(timeout=REMOVE_WITHIN_S)
    removal.returncode = 0


def installed(folder: str, variable: str, command: str) -> Path:
    """The interpreter of the environment that `variable` names, or else of the nearest `folder` upwards.

    Raises Misconfigured with the `command` that installs it.
    """
    named = os.environ.get(variable)
    environments = [Path(named)] if named else [parent / folder for parent in (Path.cwd(), *Path.cwd().parents)]
    for environment in environments:
        if (python := environment / "bin" / "python").exists():
            return python.absolute()
    raise Misconfigured(f"{folder} is not installed; run `{command}`, or name an environment with {variable}")


def _launch(
    python: Path, home: Path, log: Path, port: int, around: Mapping[str, str]
) -> tuple[Server, subprocess.Popen[bytes]]:
    for folder in (home / "tmp", log.parent):
        folder.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        process = subprocess.Popen(  # noqa: S603 -- our own interpreter and module
            [str(python), str(Path(__file__).with_name("emulator.py"))],
            env={**_environment(home, port), **around},
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    return Server(process.pid, port, psutil.Process(process.pid).create_time()), process


def _environment(home: Path, port: int) -> dict[str, str]:
    # Functions inherit this environment. It holds what Lambda would give them, and nothing of the user's: no
    # credentials, no proxies, no PYTHONPATH, no home folder with a configuration of the AWS SDK.
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "TZ": ":UTC",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "STATE_DIR": str(home / "state"),
        "S3_DATA_DIR": str(home / "s3"),
        "BIND_HOST": LOOPBACK,
        "MINISTACK_HOST": LOOPBACK,
        "GATEWAY_PORT": str(port),
        "LOG_LEVEL": "WARNING",
        # Functions may do only what their roles allow: a missing grant fails here like on AWS.
        "AUTH": "true",
    }


def _becomes_healthy(server: Server, process: subprocess.Popen[bytes]) -> bool:
    give_up_at = monotonic() + START_WITHIN_S
    while monotonic() < give_up_at:
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
            return False
        if _listens(server) and _answers(server):
            return True
    return False


def _listens(server: Server) -> bool:
    # Another process may have taken the port meanwhile, and would answer in our server's place.
    with suppress(psutil.NoSuchProcess):
        connections = psutil.Process(server.pid).net_connections("tcp")
        return any(it.status == psutil.CONN_LISTEN and it.laddr.port == server.port for it in connections)
    return False


def _answers(server: Server) -> bool:
    with suppress(urllib3.exceptions.HTTPError), urllib3.PoolManager(retries=False, timeout=2) as http:
        return http.request("GET", f"{server.endpoint}/_ministack/health").status == 200
    return False


def free_port() -> int:
    """A free port on this machine."""
    with closing(socket.socket()) as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def _is_free(port: int) -> bool:
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
    return True


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-15:])
