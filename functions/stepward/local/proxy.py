"""Runs a proxy that injects AWS errors: microburst, in its own environment, in front of the local cloud."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import urllib3

from stepward.local.access import REGION
from stepward.local.server import LOOPBACK, CloudFailed, installed

START_WITHIN_S = 30
STOP_WITHIN_S = 5
Rule = Mapping[str, Any]
_LEARN_WITHIN_S = 120
_SERVICES = ("dynamodb", "sqs", "sns", "events", "s3")
_FAULTS = "microburst_faults_total{"


@dataclass(frozen=True, slots=True)
class Proxy:
    """A running proxy at `endpoint`, which passes every request on until it gets rules."""

    endpoint: str
    http: urllib3.PoolManager

    def apply(self, rules: Sequence[Rule]) -> None:
        """Replace the rules by these."""
        answer = self.http.request("POST", f"{self.endpoint}/_microburst/rules", json=list(rules))
        if answer.status != 200:
            raise CloudFailed(f"microburst refuses the rules: {answer.data.decode(errors='replace')}")

    def injected(self) -> Mapping[tuple[str, str, str], int]:
        """The number of injected faults, by service, operation and action."""
        text = self.http.request("GET", f"{self.endpoint}/_microburst/metrics").data.decode()
        lines = [line for line in text.splitlines() if line.startswith(_FAULTS)]
        return {_labels(line): int(float(line.rpartition(" ")[2])) for line in lines}

    def passed(self) -> int:
        """The number of requests that it has received."""
        seen: int = self.http.request("GET", f"{self.endpoint}/_microburst/stats").json()["requests"]["total"]
        return seen


@contextmanager
def faulty(upstream: str, port: int, log: Path, seed: int) -> Iterator[Proxy]:
    """A proxy at `port` in front of the local cloud at `upstream`; `seed` makes it repeatable; raises CloudFailed."""
    python = installed(".venv-chaos", "STEPWARD_CHAOS_PYTHON_ENV", "make chaos-env")
    script, address = Path(__file__).with_name("seeded_proxy.py"), f"http://{LOOPBACK}:{port}"
    # By this host name, the cloud recognises requests of the proxy.
    behind = upstream.replace(LOOPBACK, "localhost")
    command = [str(python), str(script), str(seed), "--upstream", behind, "--host", LOOPBACK, "--port", str(port)]
    with (
        log.open("ab") as output,
        # Not the shell's environment: microburst would sign requests again with any credentials that it finds there.
        subprocess.Popen(  # noqa: S603 -- our own interpreter and script
            command, env={"PATH": os.defpath, "LANG": "C.UTF-8"}, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        ) as process,
        urllib3.PoolManager(retries=False, timeout=10) as http,
    ):
        try:
            _await_health(address, process, http, log)
            _let_it_learn(address, http)
            yield Proxy(address, http)
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_WITHIN_S)
            process.kill()


def _await_health(address: str, process: subprocess.Popen[bytes], http: urllib3.PoolManager, log: Path) -> None:
    give_up_at = monotonic() + START_WITHIN_S
    while monotonic() < give_up_at and process.poll() is None:
        with suppress(urllib3.exceptions.HTTPError):
            if http.request("GET", f"{address}/_microburst/health").status == 200:
                return
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
    raise CloudFailed(f"microburst did not start; see {log}")


def _let_it_learn(address: str, http: urllib3.PoolManager) -> None:
    """Send one request to each service: at the first, microburst blocks while it reads all service descriptions."""
    for service in _SERVICES:
        signed = f"AWS4-HMAC-SHA256 Credential=none/20260101/{REGION}/{service}/aws4_request"
        http.request("GET", f"{address}/", headers={"Authorization": signed}, timeout=_LEARN_WITHIN_S)


def _labels(line: str) -> tuple[str, str, str]:
    pairs = line.removeprefix(_FAULTS).rpartition("}")[0].split('",')
    values = {name: value.strip('"') for name, _, value in (pair.partition("=") for pair in pairs)}
    return values["service"], values["operation"], values["action"]
