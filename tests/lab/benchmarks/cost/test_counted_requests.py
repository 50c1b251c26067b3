"""The counts of `stepward cost` are those of the real functions, and an order stays within its price."""

from collections.abc import Callable

import pytest

from stepward.cli.cost.counting import count, counted, warm_up
from stepward.cli.cost.estimate import MILLION, Quantities, estimate, measured
from stepward.cli.cost.priced import Priced, calls_in_a_row
from tests.lab.benchmarks.cloud import cloud
from tests.lab.benchmarks.cost import cost, kinds, tables, volumes
from tests.lab.benchmarks.cost.stack import METRICS, Watching
from tests.lab.results import ROOT

PAGE = (ROOT / "docs" / "performance.md").read_text()
LOGGED = ("log bytes", "metric bytes")


@pytest.mark.parametrize(
    ("make", "batch"),
    [
        pytest.param(lambda: Priced(calls_in_a_row(1)), 1, id="one call"),
        pytest.param(lambda: Priced(calls_in_a_row(3)), 10, id="three calls by ten"),
        pytest.param(kinds.every_kind, 1, id="every kind"),
        pytest.param(kinds.every_kind, 10, id="every kind by ten", marks=pytest.mark.lab),
    ],
)
def test_what_is_counted_in_memory_is_what_the_real_functions_call(make: Callable[[], Priced], batch: int) -> None:
    """The same adapters, on moto; nothing differs, not even the bytes of the log."""
    app = make()
    with cloud(app, batch) as deployed:
        found = counted(deployed, app)

    assert found == count(make(), batch)


def test_the_page_has_the_price_at_each_volume_at_each_rate_and_in_the_cold() -> None:
    """`make bench ONLY=cost` puts the tables there."""
    assert [table for table in volumes.made() if table not in PAGE] == []


def test_the_page_has_the_price_of_each_kind_of_step() -> None:
    """`make bench ONLY=cost` prints the table."""
    found = {batch: kinds.added(batch) for batch in cost.BATCHES}
    assert tables.kinds(found) in PAGE


@pytest.mark.parametrize(
    "items", [each if each <= 100 else pytest.param(each, marks=pytest.mark.lab) for each in kinds.ITEMS]
)
def test_an_item_of_any_list_costs_what_the_page_says_and_at_most_fifteen_write_units(items: int) -> None:
    """W5: the price of an item does not grow with the list."""
    found = kinds.an_item(items)

    assert found["write units"] <= 15
    assert tables.items({items: found}) in PAGE


@pytest.mark.parametrize(
    ("again", "stored"),
    [
        pytest.param(cost.recovered, measured().recovery, id="a recovery"),
        pytest.param(cost.swept, measured().sweep, id="an idle sweep"),
    ],
)
def test_the_stored_counts_are_those_of_today(again: Callable[[], Quantities], stored: Quantities) -> None:
    """`make bench ONLY=cost` stores new counts after an intended change; log bytes may differ by one percent."""
    found = again()
    apart = {name: 0.01 * stored[name] if name in LOGGED else 0.001 for name in stored}

    assert {name: found[name] for name in stored if abs(found[name] - stored[name]) > apart[name]} == {}


@pytest.mark.parametrize("watching", METRICS)
def test_a_deployment_writes_few_metrics_if_all_goes_well(monkeypatch: pytest.MonkeyPatch, watching: Watching) -> None:
    """S21: each costs as much as alarms on three."""
    monkeypatch.setenv("STEPWARD_WATCHING", watching)
    assert cost.metrics() == METRICS[watching]


def test_three_steps_take_at_most_ten_write_units_and_five_calls_in_sequence_each() -> None:
    app = Priced(calls_in_a_row(3))
    with cloud(app, 1) as deployed:
        warm_up(deployed, app)
        deployed.send([app.text(1)])
        deployed.run()
        calls = [" ".join(call) for call in deployed.meter.calls]

    assert deployed.meter.bill.totals["write units"] <= 10
    step = ["scheduler BatchGetItem", "scheduler PutItem", "scheduler SendMessageBatch"]
    step += ["agent GetItem", "agent SendMessageBatch"]
    submitted = ["submission TransactWriteItems", "submission PutItem", "submission SendMessageBatch", *step[3:]]
    assert calls == [*submitted, *step, *step, *step[:2]]


@pytest.mark.parametrize(("batch", "most", "in_all"), [(1, 18.6, 19.7), (10, 8.6, 9.5)])
def test_a_million_orders_of_three_steps_stay_within_their_price(batch: int, most: float, in_all: float) -> None:
    """`most` is for requests and computing, `in_all` with logs and traces."""
    bill = estimate(cost.happy(3, batch), measured())
    watching = sum(line.usd for line in bill.per_order if line.name in {"Logs", "Traces"})

    assert (bill.order_usd - watching) * MILLION <= most
    assert bill.order_usd * MILLION <= in_all
