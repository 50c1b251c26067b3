"""The guards of guards.toml as values."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.lab.guards.switch import Patch

TABLE = Path(__file__).with_name("guards.toml")


@dataclass(frozen=True, slots=True)
class Guard:
    """One guard: what it protects, how it is switched off, and the tests that miss it."""

    name: str
    protects: str
    patch: Patch
    asks: tuple[str, ...]


def guards() -> list[Guard]:
    return [
        Guard(row["name"], row["protects"], Patch(file, row["text"], row["instead"]), tuple(row["asks"]))
        for file, rows in tomllib.loads(TABLE.read_text()).items()
        for row in rows
    ]
