"""The settings by which a boto3 client reaches a local cloud."""

from __future__ import annotations

from typing import TypedDict

from botocore.config import Config

REGION = "us-east-1"


class Access(TypedDict):
    """The keyword arguments of `boto3.client(name, **access)`."""

    endpoint_url: str
    region_name: str
    aws_access_key_id: str
    aws_secret_access_key: str
    config: Config


def access(endpoint: str) -> Access:
    """Access to the cloud at `endpoint`, without a proxy, with credentials that only an emulator accepts."""
    return Access(
        endpoint_url=endpoint,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 -- ministack's own default, no secret
        config=Config(
            connect_timeout=2,
            read_timeout=30,
            retries={"mode": "standard", "max_attempts": 3},
            proxies={},
            s3={"addressing_style": "path"},
        ),
    )
