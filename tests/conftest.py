"""What every test shares: no way to a real account, and a local cloud for the tests that ask for one."""

import gc
import os
from collections.abc import Generator, Iterator
from functools import cache, lru_cache
from typing import Any

import pytest
from botocore.compat import accepts_kwargs
from botocore.hooks import EventAliaser, HierarchicalEmitter
from botocore.loaders import create_loader
from hypothesis import HealthCheck, settings
from typer.main import get_command

from stepward.local.access import Access, access
from stepward.local.cloud import local_cloud
from stepward.local.server import Server
from tests.depth import IN_LAB
from tests.together import scheduler

# A busy machine is not a failure.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(scope="session", autouse=True)
def _no_account() -> Iterator[None]:
    """Take every credential, profile, endpoint and proxy away, and give credentials that open nothing."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("AWS_") or name.upper() in PROXIES:
                patch.delenv(name)
        patch.setenv("AWS_CONFIG_FILE", os.devnull)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_loader() -> Iterator[None]:
    """Have all sessions of the SDK share what they read of AWS: each would take longer to read it than most tests.

    They also share the names of events, and which handlers take any argument: each finds out the same at its start.
    """
    aliaser: Any = EventAliaser(HierarchicalEmitter())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("botocore.session.create_loader", cache(create_loader))
        patch.setattr(EventAliaser, "_alias_event_name", staticmethod(aliaser._alias_event_name))
        patch.setattr("botocore.hooks.accepts_kwargs", lru_cache(1_000)(accepts_kwargs))
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_command_line() -> Iterator[None]:
    """Have typer make the command line once: it would for each command that a test types."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("typer.testing._get_command", cache(get_command))
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, and keep it off what stays: modules and tests are much to look at."""
    gc.disable()
    try:
        return (yield)
    finally:
        if not gc.get_freeze_count():  # else this is a session within a session
            gc.freeze()
        gc.set_threshold(50_000, 10, 10)
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    return scheduler(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to the lab what is marked so, and begin with what is long: else one worker waits for it at the end."""
    items[:] = [item for item in items if IN_LAB or not item.get_closest_marker("lab")]
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A local cloud, started when the first test of this process asks for it; tests name their own resources."""
    with local_cloud(log=tmp_path_factory.mktemp("cloud") / "cloud.log") as server:
        yield server


@pytest.fixture(scope="session")
def cloud_access(cloud: Server) -> Access:
    """What a boto3 client of the local cloud is made with: `boto3.client("sqs", **cloud_access)`."""
    return access(cloud.endpoint)
