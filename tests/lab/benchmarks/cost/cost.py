"""Counts what AWS would bill for orders under the real functions, and writes the counts for `stepward cost`."""

import json
from collections.abc import Mapping
from pathlib import Path

from stepward.cli.cost import estimate
from stepward.cli.cost.billing import Bill
from stepward.cli.cost.item_size import INDEX_OVERHEAD, size_of
from tests.lab.benchmarks.cloud import Cloud, cloud
from tests.lab.benchmarks.cost import tables
from tests.lab.benchmarks.workload import line, order_text
from tests.lab.results import Progress, Result

STEPS = (1, 2, 3, 5, 10, 20, 30)
BATCHES = (1, 10)
PAYLOADS = (1, 3, 30, 300)
TARGET = Path(estimate.__file__).parent / "measured.json"
RECOVERED_AFTER_S = 700
MEASURED = (
    "write units",
    "read units",
    "sqs requests",
    "fair requests",
    "messages",
    "invocations",
    "invocations of agent",
    "reads waited for",
    "writes waited for",
    "transactions waited for",
    "sends waited for",
    "log bytes",
    "metric bytes",
    "stored bytes",
)

Quantities = Mapping[str, float]


def happy(steps: int, batch: int, items: int = 3) -> Quantities:
    """What one order of `steps` steps and `items` lines takes if nothing goes wrong and batches are full."""
    with cloud(line(steps), batch) as deployed:
        warm_up(deployed)
        deployed.send([order_text(number, items) for number in range(1, batch + 1)])
        deployed.run()
        return _per_order({**deployed.meter.bill.totals, "stored bytes": _stored(deployed.meter.bill)}, batch)


def recovered() -> Quantities:
    """What an order takes in addition if an agent dies once: its message comes back, the Supervisor finds the step."""
    with cloud(line(3), 1) as deployed:
        warm_up(deployed)
        deployed.send([order_text(1)])
        deployed.crashes = 1
        deployed.run()
        deployed.wait(RECOVERED_AFTER_S)
        deployed.supervise()
        deployed.run()
        total = _per_order(deployed.meter.bill.totals, 1)
    usual, idle = happy(3, 1), swept()
    return _per_order({name: total[name] - usual[name] - idle[name] for name in MEASURED if name != "stored bytes"}, 1)


def swept() -> Quantities:
    """What one run of the Supervisor takes if nothing is overdue."""
    with cloud(line(3), 1) as deployed:
        deployed.supervise()
        deployed.meter.reset()
        deployed.wait(60)
        deployed.supervise()
        return _per_order(deployed.meter.bill.totals, 1)


def measure(progress: Progress) -> Result:
    """What AWS would bill; it also writes the file that `stepward cost` reads."""
    orders: dict[str, dict[str, Quantities]] = {}
    for steps in STEPS:
        progress(f"counting the requests of an order of {steps} steps")
        orders[str(steps)] = {str(batch): happy(steps, batch) for batch in BATCHES}
    progress("counting the requests of a recovery, and of a sweep")
    found = {"orders": orders, "recovery": recovered(), "sweep": swept()}
    progress("counting what the stack holds")
    from tests.lab.benchmarks.cost import stack  # noqa: PLC0415 - the CDK takes seconds to import

    counts = {"stack": {**stack.counted(), "metrics": metrics()}, **found}
    TARGET.write_text(json.dumps(counts, indent=1) + "\n")
    estimate.measured.cache_clear()
    measured, payloads = estimate.measured(), {}
    for items in PAYLOADS:
        progress(f"counting the requests of an order of {items} lines")
        payloads[items] = happy(3, 10, items)
    return {"counted": measured, "payloads": payloads}, [*tables.of(measured), tables.payloads(payloads)]


def metrics() -> int:
    """How many metrics a deployment with three agents writes if nothing goes wrong."""
    with cloud(line(3), 1) as deployed:
        deployed.send([order_text(1)])
        deployed.run()
        deployed.supervise()
        return len(deployed.metrics)


def warm_up(deployed: Cloud) -> None:
    """Run one uncounted order: it writes the plan, which is written once per deployment."""
    deployed.send([order_text(999)])
    deployed.run()
    deployed.meter.reset()


def _stored(bill: Bill) -> float:
    rows = [item for (_, key), item in bill.items.items() if key.endswith(tuple(f"{n:012d}" for n in range(1, 999)))]
    return sum(size_of(row) + INDEX_OVERHEAD for row in rows)


def _per_order(totals: Mapping[str, float], orders: int) -> Quantities:
    return {name: round(totals.get(name, 0) / orders, 3) for name in MEASURED}
