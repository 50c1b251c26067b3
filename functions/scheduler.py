"""The Lambda function that runs the steps of every task in their order."""

from stepward.wiring.scheduler import scheduler

handler = scheduler()
