"""The Lambda function that finds what is overdue; a schedule starts it."""

from stepward.wiring.supervisor import supervisor

handler = supervisor()
