"""The tables of docs/performance.md on what orders of three steps cost at each volume, rate and in the cold."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from stepward.cli.cost.estimate import MILLION, Assumptions
from stepward.cli.cost.load import COLD, Load
from stepward.cli.cost.peers import SECONDS_A_MONTH, Work
from stepward.cli.cost.priced import Priced, calls_in_a_row
from stepward.cli.cost.show import OWN, beside_peers
from stepward.cli.cost.volumes import VOLUMES, Deployment
from tests.lab.benchmarks.cost import scale
from tests.lab.results import ROOT

RATES = (1 / 3600, 0.001, 0.01, 0.1, 1, 10, 100, 1000)
"""Orders a second."""
PAGE = ROOT / "docs" / "performance.md"


def ordinary() -> tuple[Deployment, Work]:
    """Orders of three steps of 100 ms each, as deployed by default."""
    priced = Priced(calls_in_a_row(3))
    assumed = replace(Assumptions(), operation_ms=100)
    return Deployment(load=Load.of(priced), settings={}, assumed=assumed), Work.of(priced)


def made() -> Sequence[str]:
    """The tables of the page."""
    deployment, work = ordinary()
    return by_volume(deployment, work), by_rate(deployment), lonely(deployment, work), scale.table(deployment)


def by_volume(deployment: Deployment, work: Work) -> str:
    """Dollars a month, beside the peers, and from which volume Stepward costs less."""
    names = [f"{orders // MILLION} million" if orders >= MILLION else f"{orders:,}" for orders in VOLUMES]
    head = ["$ for a month of so many orders", *names, "Stepward costs less"]
    return _of_page(head, _by_volume(deployment, work))


def _by_volume(deployment: Deployment, work: Work) -> Iterator[Sequence[str]]:
    for name, usd in beside_peers(deployment, work, VOLUMES).items():
        least = None if name == OWN else deployment.cheaper_from(work, name)
        since = "" if name == OWN else f"from {least:,}" if least else "never"
        yield name, *(f"{each:,.2f}" if each < 1000 else f"{each:,.0f}" for each in usd), since


def by_rate(deployment: Deployment) -> str:
    """Dollars a million orders at each rate, without the month, and what makes them."""
    head = ("orders a second", "messages in a run", "SQS requests", "Lambda runs", "cold starts", "$ a million")
    return _of_page(head, (_at(deployment, rate) for rate in RATES))


def _at(deployment: Deployment, rate: float) -> Sequence[str]:
    orders = rate * SECONDS_A_MONTH
    found = deployment.counted(orders)
    messages = found["messages"] / found["invocations"]
    figures = (f"{found[name]:.1f}" for name in ("sqs requests", "invocations"))
    usd = deployment.estimate(orders).order_usd * MILLION
    told = "1 an hour" if rate < 0.001 else f"{rate:,g}"
    return told, f"{messages:.1f}", *figures, f"{found[COLD]:.2f}", f"{usd:.2f}"


def lonely(deployment: Deployment, work: Work) -> str:
    """Dollars for a million orders that find every function cold, without the month, and the cold starts in a row."""
    alone = 1
    rows = [(OWN, deployment.estimate(alone).order_usd, len(deployment.load.functions))]
    rows += [(bill.name, bill.order_usd, bill.cold) for bill in deployment.peers(work, alone)]
    told = ((name, f"{usd * MILLION:.2f}", str(cold or "")) for name, usd, cold in rows)
    return _of_page(("an order that comes alone", "$ a million", "cold starts in a row"), told)


def put(*made: str) -> None:
    """Replace the tables of docs/performance.md that begin with the same line."""
    text = PAGE.read_text()
    for each in made:
        head = re.escape(each.splitlines()[0])
        text = re.sub(rf"{head}(\n\|.*)*", each.replace("\\", "\\\\"), text)
    PAGE.write_text(text)


def _of_page(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))
