"""The Lambda function that finds what is overdue; a schedule wakes it."""

from stepward.wiring.supervisor import supervisor

handler = supervisor()
