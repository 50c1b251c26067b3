"""The function that finds what is overdue."""

from stepward.wiring.supervisor import supervisor

handler = supervisor()
