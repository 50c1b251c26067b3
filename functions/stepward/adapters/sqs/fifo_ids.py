"""Group and deduplication ids that SQS accepts, without ever making two into one."""

from __future__ import annotations

import hashlib
import re

_ACCEPTED = re.compile(r"[!-~]{1,128}")
_HASHED = re.compile(r"sha256-[0-9a-f]{64}")


def fifo_id(text: str) -> str:
    """The id to give to SQS for `text`: itself if SQS accepts it, else its hash; different for every text.

    A text that looks like one of our hashes is hashed too, so that no text can pose as another's hash.
    """
    if _ACCEPTED.fullmatch(text) and not _HASHED.fullmatch(text):
        return text
    # A lone surrogate cannot leave as a message, but it may stand in an id.
    return f"sha256-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"
