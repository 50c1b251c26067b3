"""Uploads a ledger to the deployment's bucket."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from boto3.exceptions import S3UploadFailedError
from botocore.exceptions import BotoCoreError, ClientError

from stepward.domain.errors import Transient

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


def upload(client: S3Client, bucket: str, path: Path, key: str) -> None:
    """Upload the file in parts; raises Transient if that fails."""
    try:
        client.upload_file(str(path), bucket, key)
    except (S3UploadFailedError, ClientError, BotoCoreError) as error:
        raise Transient(f"{path} could not be uploaded to the bucket {bucket}: {error}") from error
