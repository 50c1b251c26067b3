"""Trips: an application of its own, which knows the engine from its packages only."""

from booking.trip import trip
from stepward import App

__all__ = ["app"]

app = App("booking", workflow=trip)
