"""Plain values, and other spellings of the same value, for Hypothesis."""

from __future__ import annotations

import json
from decimal import Decimal
from random import Random
from typing import Any

from hypothesis import strategies as st

TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff").filter(
        lambda character: character in "\t\n\r" or character >= " "
    ),
    max_size=20,
)
NUMBERS = st.integers(-(10**38) + 1, 10**38 - 1) | st.decimals(-(10**12), 10**12, places=6)
PLAIN = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
OBJECTS = st.dictionaries(TEXT, PLAIN, max_size=5)


def respelled(value: Any, chance: Random) -> str:
    """The same value as JSON text, with its keys shuffled and blanks strewn in."""
    blank = chance.choice(["", " ", "\n\t"])
    match value:
        case dict():
            keys = chance.sample(sorted(value), len(value))
            members = (f"{blank}{json.dumps(key)}{blank}:{respelled(value[key], chance)}" for key in keys)
            return blank + "{" + ",".join(members) + blank + "}"
        case list():
            return "[" + ",".join(respelled(inner, chance) for inner in value) + blank + "]" + blank
        case Decimal():
            return f"{value:f}"
        case _:
            return json.dumps(value, ensure_ascii=chance.random() < 0.5)
