"""Runs the services until the process gets a signal: `python -m stepward.local.services --ledger FILE`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path

from stepward.local.services.server import Services


def main() -> None:
    """Start, print the address, and serve until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m stepward.local.services", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--ledger", type=Path, required=True, help="SQLite file for the effects and the journal")
    parser.add_argument("--secrets", type=json.loads, default={}, help="names of secrets by service, as JSON")
    options = parser.parse_args()
    stop = {signal.SIGINT, signal.SIGTERM}
    # Blocked before any thread starts, so that only sigwait receives the signals.
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    with Services(options.ledger, port=options.port, secrets=options.secrets) as services:
        sys.stdout.write(f"{services.endpoint}\n")
        sys.stdout.flush()
        signal.sigwait(stop)


if __name__ == "__main__":
    main()
