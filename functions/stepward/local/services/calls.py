"""A call of a service, and its answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stepward.domain.key import in_idempotency_key


@dataclass(frozen=True, slots=True)
class ServiceCall:
    """A call; `undo_of` is the key of the forward call that it undoes, or empty."""

    service: str
    operation: str
    key: str
    fence: int
    undo_of: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> str:
        """The key of the call's task: a call's own key is `KEY/step`, or `KEY/step/undo`."""
        return in_idempotency_key(self.key)[0]

    @property
    def fingerprint(self) -> str:
        """A hash of what every call under the same key must have in common."""
        request = [self.operation, self.undo_of, self.body]
        return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Answer:
    """The service's answer, and its `outcome` in the journal."""

    status: int
    outcome: str
    body: Mapping[str, Any]


def refusal(status: int, code: str) -> Answer:
    """A refusal; its code is also its outcome in the journal."""
    return Answer(status, code, {"code": code})
