"""The process of a proxy that makes AWS fail: microburst, in an environment of its own, before the local cloud."""

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
    """A running proxy at `endpoint`, which lets everything pass until it is given rules."""

    endpoint: str
    http: urllib3.PoolManager

    def apply_command(self, rules: Sequence[Rule]) -> None:
        """Let these rules, and no others, hold from now on."""
        answer = self.http.request("POST", f"{self.endpoint}/_microburst/rules", json=list(rules))
        if answer.status != 200:
            raise CloudFailed(f"microburst refuses its rules: {answer.data.decode(errors='replace')}")

    def injected(self) -> Mapping[tuple[str, str, str], int]:
        """How often it made each operation fail, by service, operation, and what it did."""
        text = self.http.request("GET", f"{self.endpoint}/_microburst/metrics").data.decode()
        lines = [line for line in text.splitlines() if line.startswith(_FAULTS)]
        return {_labels(line): int(float(line.rpartition(" ")[2])) for line in lines}

    def passed(self) -> int:
        """How many requests came to it."""
        seen: int = self.http.request("GET", f"{self.endpoint}/_microburst/stats").json()["requests"]["total"]
        return seen


@contextmanager
def faulty(upstream: str, port: int, log: Path, seed: int) -> Iterator[Proxy]:
    """A proxy at `port` that passes requests on to the local cloud at `upstream`; `seed` decides its chances.

    Raises CloudFailed.
    """
    python = installed(".venv-chaos", "STEPWARD_CHAOS_PYTHON_ENV", "make chaos-env")
    script, address = Path(__file__).with_name("seeded_proxy.py"), f"http://{LOOPBACK}:{port}"
    # By this name, the cloud knows that it is the proxy which asks.
    behind = upstream.replace(LOOPBACK, "localhost")
    command = [str(python), str(script), str(seed), "--upstream", behind, "--host", LOOPBACK, "--port", str(port)]
    with (
        log.open("ab") as output,
        # Not the shell's own environment: it may name credentials, and microburst signs anew with any that it finds.
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
    """Ask for something of each service: at the first request it reads the descriptions of all, and serves nobody."""
    for service in _SERVICES:
        signed = f"AWS4-HMAC-SHA256 Credential=none/20260101/{REGION}/{service}/aws4_request"
        http.request("GET", f"{address}/", headers={"Authorization": signed}, timeout=_LEARN_WITHIN_S)


def _labels(line: str) -> tuple[str, str, str]:
    pairs = line.removeprefix(_FAULTS).rpartition("}")[0].split('",')
    values = {name: value.strip('"') for name, _, value in (pair.partition("=") for pair in pairs)}
    return values["service"], values["operation"], values["action"]
