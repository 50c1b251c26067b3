"""Asks, before a deployment changes anything, what it would strand, delete or leave unprotected."""
