"""The function that runs the steps of trips."""

from stepward.wiring.scheduler import scheduler

handler = scheduler()
