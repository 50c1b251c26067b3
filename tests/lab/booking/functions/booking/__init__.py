"""Trips and insurances: an application that uses the engine only through its installed packages."""

from booking.insurance import insurance
from booking.trip import trip
from stepward import App

__all__ = ["app"]

app = App("booking", workflows=[trip, insurance], default=trip)
