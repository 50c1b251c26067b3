"""Trips: an application that uses the engine only through its installed packages."""

from booking.trip import trip
from stepward import App

__all__ = ["app"]

app = App("booking", workflows=[trip])
