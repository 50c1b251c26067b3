"""The bodies of rejects that are too large for a row, in a bucket that holds nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from stepward.adapters.s3_failures import GONE, code_of, translated
from stepward.domain.errors import Corrupt

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


@dataclass(frozen=True, slots=True)
class S3Bodies:
    """One object for each body; `client` makes the client, or returns the one that it made before."""

    client: Callable[[], S3Client]
    bucket: str

    def put(self, key: str, body: bytes) -> None:
        """Keep the body under its key; raises Transient or Misconfigured."""
        with translated(f"{self.bucket}/{key}"):
            self.client().put_object(Bucket=self.bucket, Key=key, Body=body)

    def get(self, key: str) -> bytes:
        """The body; raises Transient, Misconfigured, or Corrupt if it is gone."""
        try:
            with translated(f"{self.bucket}/{key}"):
                return self.client().get_object(Bucket=self.bucket, Key=key)["Body"].read()
        except ClientError as error:
            if code_of(error) in GONE:
                gone = "is gone; the bucket deletes bodies after 60 days, and no other region has a copy"
                raise Corrupt(f"{self.bucket}/{key} {gone}") from error
            raise
