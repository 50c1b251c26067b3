"""The example application: the workflow of an order. Replace this package by your own."""

from orders.fulfilment import fulfilment
from orders.messages import OrderEvent
from orders.shops.sources import SOURCES
from stepward import App

__all__ = ["app"]

app = App("orders", workflows=[fulfilment], event=OrderEvent, sources=SOURCES)
