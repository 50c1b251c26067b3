"""Shows the demonstration in the console, beside the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Queue
from threading import Thread

from rich.console import Console

from orders.demo.stage import CREDENTIALS, Stage
from stepward.cli.console import served
from stepward.cli.deployment.options import DEFAULT_ENVIRONMENT, Target
from stepward.local.access import REGION

READY_S = 60


@contextmanager
def shown_in_console(stage: Stage, console: Console) -> Iterator[None]:
    """Serve the console during the block, and after it until somebody presses Enter or Ctrl-C; raises UserError."""
    os.environ.update(CREDENTIALS, NO_PROXY="127.0.0.1")  # of the local cloud, which is all that this process reaches
    target = Target.chosen(stack="", env=DEFAULT_ENVIRONMENT, local=False, endpoint=stage.endpoint, region=REGION)
    addresses: Queue[str] = Queue()
    Thread(target=served(target, ""), args=(addresses.put, 0), daemon=True).start()
    address = addresses.get(timeout=READY_S)
    console.print(f"\nThe console shows all of it: {address}", markup=False, highlight=False, soft_wrap=True)
    yield
    console.print(f"\nThe console goes on: {address}\nEnter ends it.", markup=False, highlight=False, soft_wrap=True)
    with suppress(EOFError, KeyboardInterrupt):
        input()
