"""The ledgers in the deployment's bucket, one object each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from stepward.adapters.s3_failures import GONE, PAST_THE_END, code_of, translated
from stepward.domain.errors import Rejected

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

PIECE = 64 * 1024


@dataclass(frozen=True, slots=True)
class S3Ledgers:
    """`ports.Ledgers` on one bucket, and on no other, whatever a message says.

    `client` makes the client, or returns the one that it made before: a ledger without an object needs none.
    """

    client: Callable[[], S3Client]
    bucket: str

    def version(self, key: str) -> str | None:
        """The object's entity tag; see the port."""
        try:
            with self._translated(key):
                return self.client().head_object(Bucket=self.bucket, Key=key)["ETag"]
        except ClientError as error:
            if code_of(error) in GONE:
                return None
            raise

    def read(self, key: str, version: str, start: int) -> Iterator[bytes]:
        """The object's bytes in pieces, never all in memory; see the port. Raises Rejected if it has changed."""
        try:
            with self._translated(key):
                answer = self.client().get_object(Bucket=self.bucket, Key=key, IfMatch=version, Range=f"bytes={start}-")
        except ClientError as error:
            if code_of(error) in PAST_THE_END:
                return
            gone = code_of(error) in GONE
            what = "is gone" if gone else "has changed"
            raise Rejected("objectKey", f"the object {key!r} {what} since the ledger was begun") from error
        with closing(answer["Body"]) as body:
            pieces = body.iter_chunks(PIECE)
            while piece := self._next(pieces, key):
                yield piece

    def _next(self, pieces: Iterator[bytes], key: str) -> bytes:
        with self._translated(key):
            return next(pieces, b"")

    def _translated(self, key: str) -> AbstractContextManager[None]:
        return translated(f"{self.bucket}/{key}")
