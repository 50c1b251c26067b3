"""Counts what AWS would bill for orders, and what no plan tells, which it writes for `stepward cost`."""

import json
from pathlib import Path

from stepward.cli.cost import estimate
from stepward.cli.cost.counting import COUNTED, count, per_order, warm_up
from stepward.cli.cost.estimate import Quantities
from stepward.cli.cost.priced import Priced, calls_in_a_row
from tests.lab.benchmarks.cloud import cloud
from tests.lab.benchmarks.cost import kinds, tables, volumes
from tests.lab.results import Progress, Result

STEPS = (1, 2, 3, 5, 10, 20, 30)
BATCHES = (1, 10)
PAYLOADS = (1, 3, 30, 300)
TARGET = Path(estimate.__file__).parent / "measured.json"
RECOVERED_AFTER_S = 700


def happy(steps: int, batch: int, items: int = 3) -> Quantities:
    """What one order of `steps` calls in a row and `items` lines takes if nothing goes wrong and batches are full."""
    return count(Priced(calls_in_a_row(steps), items=items), batch)


def recovered() -> Quantities:
    """What an order takes in addition if an agent dies once: its message comes back, the Supervisor finds the step."""
    app = Priced(calls_in_a_row(3))
    with cloud(app, 1) as deployed:
        warm_up(deployed, app)
        deployed.send([app.text(1)])
        deployed.crashes = 1
        deployed.run()
        deployed.wait(RECOVERED_AFTER_S)
        deployed.supervise()
        deployed.run()
        total = per_order(deployed.meter.bill.totals, 1)
    usual, idle = happy(3, 1), swept()
    return per_order({name: total[name] - usual[name] - idle[name] for name in COUNTED if name != "stored bytes"}, 1)


def swept() -> Quantities:
    """What one run of the Supervisor takes if nothing is overdue."""
    with cloud(Priced(calls_in_a_row(3)), 1) as deployed:
        deployed.supervise()
        deployed.meter.reset()
        deployed.wait(60)
        deployed.supervise()
        return per_order(deployed.meter.bill.totals, 1)


def measure(progress: Progress) -> Result:
    """What AWS would bill; it also writes the file that `stepward cost` reads."""
    progress("counting the requests of a recovery, and of a sweep")
    found = {"recovery": recovered(), "sweep": swept()}
    progress("counting what the stack holds")
    from tests.lab.benchmarks.cost import stack  # noqa: PLC0415 - the CDK takes seconds to import

    lean, full = ({**stack.counted(way), "metrics": each} for way, each in stack.METRICS.items())
    counts = {"stack": lean, "full": full, **found}
    TARGET.write_text(json.dumps(counts, indent=1) + "\n")
    estimate.measured.cache_clear()
    progress("counting the requests of orders")
    orders = {steps: {batch: happy(steps, batch) for batch in BATCHES} for steps in STEPS}
    added = {batch: kinds.added(batch) for batch in BATCHES}
    each = {items: kinds.an_item(items) for items in kinds.ITEMS}
    payloads = {items: happy(3, 10, items) for items in PAYLOADS}
    results = {"counted": estimate.measured(), "orders": orders, "kinds": added, "items": each, "payloads": payloads}
    made = volumes.made()
    volumes.put(*made, tables.kinds(added))
    return results, [*made, *tables.of(orders), tables.kinds(added), tables.items(each), tables.payloads(payloads)]


def metrics() -> int:
    """How many metrics a deployment with three agents writes if nothing goes wrong."""
    app = Priced(calls_in_a_row(3))
    with cloud(app, 1) as deployed:
        deployed.send([app.text(1)])
        deployed.run()
        deployed.supervise()
        return len(deployed.metrics)
