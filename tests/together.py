"""Which tests are one worker's: those that share what takes long to make, and those that need the whole machine."""

from typing import Any

TOGETHER = (
    "tests/e2e/test_deployed.py",
    "tests/infra/",
    "tests/integration/test_local_proxied.py",
    "tests/lab/races/",
    "tests/unit/cli_new/",
)


def scheduler(config: object, log: object) -> object:
    """A scheduler of xdist that hands out each of these places as a whole, and all other tests one by one.

    xdist's own marks for groups have no effect on pytest 9.2, which does not read the name that they change.
    """
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]  # noqa: PLC0415 - it may be off

    made: Any = LoadScopeScheduling(config, log)
    made._split_scope = place_of
    return made


def place_of(test: str) -> str:
    """The place with which a test is handed out, or the test itself."""
    return next((place for place in TOGETHER if test.startswith(place)), test)
