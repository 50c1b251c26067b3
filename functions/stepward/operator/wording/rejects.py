"""What an operator does with a rejected message."""

from __future__ import annotations

from stepward.domain.rejects import OF_LANE, OF_LEDGER, Reject
from stepward.stack_outputs import Deployment


def is_of_orders(parts: Deployment, reject: Reject) -> bool:
    """Whether it came as an order message."""
    return reject.source == _name(parts.orders_queue_url)


def sent_again(parts: Deployment, reject: Reject) -> tuple[str, ...]:
    """The `stepward` command that sends the corrected message; () for one between the parts, which nobody sends."""
    ledgers = {_name(url) for url in (parts.ledgers_queue_url, *parts.customer_ledger_queue_urls.values())}
    if is_of_orders(parts, reject):
        return "send", "order.json"
    if reject.source in ledgers:
        return "ledger", "send", "order.json"
    of_ledger, customer = reject.source.startswith(OF_LEDGER), reject.source.removeprefix(OF_LEDGER)
    if of_ledger or reject.source in {OF_LANE, _name(parts.order_events_queue_url)}:
        return "ledger", "send", "order.json", "--customer", customer if of_ledger else "CUSTOMER"
    return ()


def _name(url: str) -> str:
    return url.rpartition("/")[2]
