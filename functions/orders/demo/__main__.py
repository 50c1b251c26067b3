"""`python -m orders.demo`: sends orders to a local stack, injects faults, and audits the result."""

from __future__ import annotations

from typing import Annotated

import typer

from orders.demo.pages import shown_in_console
from orders.demo.run import alone, run
from stepward.cli.console import check_installed
from stepward.cli.deployment.options import reports_errors
from stepward.cli.terminal import OUT, shows_any_text

Orders = Annotated[int, typer.Option(min=1, help="How many orders to send.")]
LedgerOrders = Annotated[int, typer.Option(min=0, help="How many more orders to send as events in ledgers.")]
Seed = Annotated[int, typer.Option(help="The same seed brings the same orders and the same faults.")]
InConsole = Annotated[bool, typer.Option("--console", help="Show it in the console, too, until you press Enter.")]


@reports_errors
def demo(
    *, orders: Orders = 30, ledger_orders: LedgerOrders = 60, seed: Seed = 1, in_console: InConsole = False
) -> None:
    """Deploy the stack on this machine, send orders and ledgers, inject faults, and audit the result.

    It uses its own local cloud and leaves nothing behind. Exit code 1 if the audit finds an order or effect that is
    lost, doubled, stuck, unalerted or wrong.

    Example: python -m orders.demo --orders 100 --seed 7
    """
    if in_console:
        check_installed()
    beside = shown_in_console if in_console else alone
    raise typer.Exit(run(orders, seed, OUT, ledger_orders=ledger_orders, beside=beside))


if __name__ == "__main__":
    shows_any_text()
    typer.run(demo)
