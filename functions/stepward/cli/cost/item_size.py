"""The size of an item and the write units it costs, by the rules that DynamoDB publishes."""

import math
from collections.abc import Mapping
from typing import Any

KB = 1024
INDEX_OVERHEAD = 100


def size_of(item: Mapping[str, Any]) -> int:
    """Bytes of all names and values."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def units_of_write(before: Mapping[str, Any] | None, after: Mapping[str, Any]) -> int:
    """Write units of a put; it is billed by the larger of the two items, in whole KB."""
    return math.ceil(max(size_of(before or {}), size_of(after)) / KB)


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, held),) = value.items()
    match kind:
        case "S":
            return len(held.encode())
        case "B":
            return len(held)
        case "N":
            return _number_size(held)
        case "BOOL" | "NULL":
            return 1
        case "L":
            return 3 + sum(1 + _value_size(element) for element in held)
        case "M":
            return 3 + sum(1 + len(name.encode()) + _value_size(element) for name, element in held.items())
        case _:
            raise ValueError(f"no size is known for {kind}")


def _number_size(text: str) -> int:
    digits = text.lstrip("-").replace(".", "").strip("0")
    return math.ceil(len(digits) / 2) + 1 + text.startswith("-")
