"""The Supervisor: finds what is overdue."""
