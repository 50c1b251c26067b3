"""How a client reaches a local cloud."""

from __future__ import annotations

from typing import TypedDict

from botocore.config import Config

REGION = "us-east-1"


class Access(TypedDict):
    """What `boto3.client(name, **access)` needs."""

    endpoint_url: str
    region_name: str
    aws_access_key_id: str
    aws_secret_access_key: str
    config: Config


def access(endpoint: str) -> Access:
    """Access to the cloud at `endpoint`, with credentials that only an emulator takes and no proxy on the way."""
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
