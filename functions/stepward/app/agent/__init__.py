"""The Agent: calls one remote service, behind its breaker."""
