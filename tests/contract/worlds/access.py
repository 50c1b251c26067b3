"""How the AWS adapters of a test reach their services, in each of the three worlds."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from moto import mock_aws

Access = Mapping[str, Any]
"""What `boto3.client(name, **access)` needs."""

ON_AWS = ["moto", pytest.param("cloud", marks=pytest.mark.cloud)]
EVERYWHERE = ["memory", *ON_AWS]


@contextmanager
def access_in(world: str, request: pytest.FixtureRequest) -> Iterator[Access | None]:
    """The access in memory (None), on moto, or on the local cloud."""
    match world:
        case "memory":
            yield None
        case "moto":
            with mock_aws():
                yield {}
        case _:
            yield request.getfixturevalue("cloud_access")
