"""The example application: the workflows of an order and of a return. Replace this package by your own."""

from orders.fulfilment import fulfilment
from orders.messages import OrderEvent
from orders.returns import returns
from orders.shops.sources import SOURCES
from stepward import App

__all__ = ["app"]

app = App("orders", workflows=[fulfilment, returns], default=fulfilment, event=OrderEvent, sources=SOURCES)
