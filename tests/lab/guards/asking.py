"""Asks tests, in this very process, whether they miss a guard that is switched off."""

import io
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field

import pytest

from tests.lab.guards.switch import Guard, switched_off

UNREWRITTEN = "ignore::pytest.PytestAssertRewriteWarning"
"""Outside of pytest, modules are loaded before it could rewrite their assertions; they fail all the same."""
WITHOUT = ("cacheprovider", "randomly", "unraisableexception")
"""The last one searches all of this process for garbage after each session, which takes longer than the tests."""
QUIETLY = ("-q", "-x", "--tb=no", "-W", UNREWRITTEN, *(word for name in WITHOUT for word in ("-p", f"no:{name}")))


class NoAnswer(Exception):
    """The tests could not be run: the table names something that is not there, or that breaks for other reasons."""


@dataclass(slots=True, eq=False)
class Results:
    """The results of tests, as a plugin of pytest; `failed` are those that miss something."""

    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and report.when != "call":
            self.broken.append(f"{report.nodeid}: {report.longreprtext}")
        elif report.when == "call":
            (self.failed if report.failed else self.passed).append(report.nodeid)


def missed_by(guard: Guard) -> str:
    """The first test that fails while the guard is off, "" if all pass; raises NoAnswer or NoSuchPosition."""
    with switched_off(guard.patch):
        return next(iter(ask(guard.asks).failed), "")


def ask(tests: Sequence[str]) -> Results:
    """Run these tests, up to the first that fails; raises NoAnswer."""
    if not tests:
        raise NoAnswer("no test is named")
    found, output = Results(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        code = pytest.main([*QUIETLY, *tests], plugins=[found])
    if found.broken or code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise NoAnswer(f"{', '.join(tests)}: {code!r} {found.broken} {output.getvalue()}")
    return found
