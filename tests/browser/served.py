"""The console as a person starts it: in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from stepward.local.access import REGION

_ADDRESS = re.compile(r"http://127\.0\.0\.1:[0-9]+/\?token=\S+")


@contextmanager
def served(endpoint: str, *words: str) -> Iterator[str]:
    """The address of a console of the stack at `endpoint`, which has a token in it; it must end without a traceback."""
    command = [sys.executable, "-c", "from stepward.cli import start; start()", "console", "--who", "ada", *words]
    env = os.environ | {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        "STEPWARD_ENDPOINT": endpoint,
    }
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603
    assert process.stdout is not None
    try:
        yield _ADDRESS.findall(process.stdout.readline())[0]
    finally:
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=30)
    assert "Traceback" not in complaints, complaints
