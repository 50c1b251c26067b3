"""Group and deduplication ids that SQS accepts; different texts never get the same id."""

from __future__ import annotations

import hashlib
import re

_ACCEPTED = re.compile(r"[!-~]{1,128}")
_HASHED = re.compile(r"sha256-[0-9a-f]{64}")


def fifo_id(text: str) -> str:
    """The id for SQS: `text` itself if SQS accepts it, else its hash.

    A text that looks like one of our hashes is hashed too, so that no text can pose as another's hash.
    """
    if _ACCEPTED.fullmatch(text) and not _HASHED.fullmatch(text):
        return text
    # No message can carry a lone surrogate, but an id may contain one.
    return f"sha256-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
