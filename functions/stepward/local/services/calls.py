"""One call of a service, and what the service says to it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ServiceCall:
    """A call as it arrived; `undo_of` is the forward call's key if this one undoes it, else empty."""

    service: str
    operation: str
    key: str
    fence: int
    undo_of: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> str:
        """The order this call works for: a key is `order/step`, and `/undo` after it for an undo."""
        return self.key.split("/")[0]

    @property
    def fingerprint(self) -> str:
        """What must be the same whenever the key is used again."""
        asked = [self.operation, self.undo_of, self.body]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Answer:
    """What the service says, and the word for it in the journal."""

    status: int
    outcome: str
    body: Mapping[str, Any]


def refusal(status: int, code: str) -> Answer:
    """A refusal; its code is also its word in the journal."""
    return Answer(status, code, {"code": code})
