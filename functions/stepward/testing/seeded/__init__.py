"""Worlds in which a seed decides everything: who orders, what goes wrong, and what happens next."""
