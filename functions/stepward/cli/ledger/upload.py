"""A ledger's object in the deployment's bucket."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from boto3.exceptions import S3UploadFailedError
from botocore.exceptions import BotoCoreError, ClientError

from stepward.domain.errors import Transient

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


def upload(client: S3Client, bucket: str, path: Path, key: str) -> None:
    """Put the file into the bucket, piece by piece; raises Transient if it could not be put there whole."""
    try:
        client.upload_file(str(path), bucket, key)
    except (S3UploadFailedError, ClientError, BotoCoreError) as error:
        raise Transient(f"{path} could not be put into the bucket {bucket}: {error}") from error
