"""Copies of frozen records, made in less time than `dataclasses.replace` takes: an order needs about thirty."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["replace"]

if TYPE_CHECKING:
    from dataclasses import replace  # mypy knows which fields that takes
else:
    from dataclasses import fields
    from functools import cache
    from operator import attrgetter

    def replace(record, /, **changes):
        """A copy of `record` with these fields changed; raises TypeError for a field that its class does not take."""
        names, values = _fields(type(record))
        return type(record)(**dict(zip(names, values(record), strict=False), **changes))

    @cache
    def _fields(record):
        names = [each.name for each in fields(record) if each.init]
        # Of a single name, attrgetter would give the bare value, so it gets one that is left out.
        return names, attrgetter(*names, "__class__")
