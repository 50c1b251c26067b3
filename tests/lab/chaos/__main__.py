"""Makes AWS fail and kills functions under a steady flow of orders and ledgers: `python -m tests.lab.chaos`."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console

from tests.lab.chaos.run import run


def main() -> int:
    """Run with the options of the command line; 1 if an audit found a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=180.0, help="how long AWS fails and functions are killed")
    parser.add_argument("--seed", type=int, default=1, help="decides what is sent, what fails, and who is killed when")
    options = parser.parse_args()
    return run(options.seconds, options.seed, Console())


if __name__ == "__main__":
    sys.exit(main())
