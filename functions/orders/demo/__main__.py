"""`python -m orders.demo`: orders and faults on the deployed stack, and an audit."""

from __future__ import annotations

from typing import Annotated

import typer

from orders.demo.run import run
from stepward.cli.deployment.options import faults_told
from stepward.cli.orders.view import order_view
from stepward.cli.terminal import OUT

Orders = Annotated[int, typer.Option(min=1, help="How many orders to send.")]
LedgerOrders = Annotated[int, typer.Option(min=0, help="Of how many more orders to send events, in ledgers.")]
Seed = Annotated[int, typer.Option(help="The same seed brings the same orders and the same faults.")]


@faults_told
def demo(*, orders: Orders = 30, ledger_orders: LedgerOrders = 60, seed: Seed = 1) -> None:
    """Deploy the stack on this machine, send orders and ledgers, break things, and audit what came of them.

    It uses a local cloud of its own and leaves nothing behind. Exit code 1 if the audit finds anything lost,
    doubled, stuck or unalerted.

    Example: python -m orders.demo --orders 100 --seed 7
    """
    raise typer.Exit(run(orders, seed, OUT, order_view, ledger_orders=ledger_orders))


if __name__ == "__main__":
    typer.run(demo)
