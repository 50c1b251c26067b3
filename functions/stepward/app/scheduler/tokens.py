"""Callback tokens: with one a service ends the step that it took over; nobody can guess or change it.

A token is `1.CONTENT.MAC`: format, base64url of what it names, and 16 bytes of HMAC-SHA256 over both. Nothing is
stored, so no copy of the tables discloses one.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepward.domain.errors import Forged
from stepward.domain.messages import StepRequest

_FORMAT = "1"
_MAC_BYTES = 16
LONGEST_TOKEN = 600
KEYS_LAST = 300_000
"""Milliseconds after which the keys are read again."""
REREAD_AFTER = 10_000
"""Milliseconds after which a token that no key fits has them read again: they may have been rotated."""


@dataclass(frozen=True, slots=True)
class Token:
    """What a token names: an attempt of a step of one life of an order."""

    order_id: str
    effect: str
    attempt: int
    created_at: int


@dataclass(slots=True)
class Tokens:
    """Makes and checks tokens; `read` gives the keys in force, that to sign with first, and raises Transient."""

    read: Callable[[], Sequence[bytes]]
    now: Callable[[], int]
    _keys: Sequence[bytes] = ()
    _read_at: int = field(default=0)

    def issue(self, request: StepRequest, created_at: int) -> str:
        """The token for an attempt of an order submitted at `created_at`; the same each time, as long as the key is."""
        effect = request.idempotency_key.removeprefix(f"{request.order_id}/")
        named = [request.order_id, effect, request.attempt, created_at]
        content = f"{_FORMAT}.{_text(json.dumps(named, separators=(',', ':')).encode())}"
        return f"{content}.{_text(_mac(self._in_force(KEYS_LAST)[0], content))}"

    def check(self, text: str) -> Token:
        """What a token names; raises Forged, or Transient if no key can be read."""
        content, _, mac = text.rpartition(".")
        if len(text) > LONGEST_TOKEN or not text.isascii() or not content.startswith(f"{_FORMAT}."):
            raise Forged("it has not the form of a token")
        if not self._fits(content, mac, KEYS_LAST) and not self._fits(content, mac, REREAD_AFTER):
            raise Forged("no key of this deployment made it")
        order_id, effect, attempt, created_at = json.loads(_bytes(content.partition(".")[2]))
        return Token(order_id, effect, attempt, created_at)

    def _fits(self, content: str, mac: str, last: int) -> bool:
        expected = [_text(_mac(key, content)) for key in self._in_force(last)]
        return any([hmac.compare_digest(mac, each) for each in expected])  # noqa: C419 - as long for each

    def _in_force(self, last: int) -> Sequence[bytes]:
        if not self._keys or self.now() - self._read_at >= last:
            self._keys, self._read_at = self.read(), self.now()
        return self._keys


def in_order(keys: Sequence[bytes], age: int) -> Sequence[bytes]:
    """The keys, newest first, with that to sign with first; `age` is how long ago the newest was made.

    Whoever has read the keys before a rotation takes a token of the newest for forged. So nobody signs with it until
    everybody has read the keys again.
    """
    return keys if age >= KEYS_LAST + REREAD_AFTER else keys[::-1]


def _mac(key: bytes, content: str) -> bytes:
    return hmac.digest(key, content.encode(), hashlib.sha256)[:_MAC_BYTES]


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _bytes(text: str) -> Any:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
