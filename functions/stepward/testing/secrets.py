"""Secrets for operations that a test calls itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from stepward import secrets


@contextmanager
def known_secrets(values: Mapping[str, str]) -> Iterator[None]:
    """Have `secret(name)` give these values, and ask nobody, for as long as the block runs."""
    before = dict(secrets.known)
    secrets.known.clear()
    secrets.known.update(values)
    try:
        yield
    finally:
        secrets.known.clear()
        secrets.known.update(before)
