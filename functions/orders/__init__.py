"""The application: what happens to an order. Replace this package by your own."""

from orders.fulfilment import fulfilment as workflow

__all__ = ["workflow"]
