"""Asks tests, in this very process, whether they miss a guard that is switched off."""

import importlib
import inspect
import io
from collections import ChainMap
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import pytest

from tests.lab.guards.catalogue import Guard
from tests.lab.guards.switch import switched_off

UNREWRITTEN = "ignore::pytest.PytestAssertRewriteWarning"
"""Outside of pytest, modules are loaded before it could rewrite their assertions; they fail all the same."""
QUIETLY = ("-q", "-x", "--tb=no", "-W", UNREWRITTEN, *("-p", "no:cacheprovider"), *("-p", "no:randomly"))
Marks = Iterable[pytest.Mark]
PARAM = type(pytest.param())


class NoAnswer(Exception):
    """The tests could not be run: the table names something that is not there, or that breaks for other reasons."""


@dataclass(slots=True, eq=False)
class Results:
    """The results of tests, as a plugin of pytest; `failed` are those that miss something."""

    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One phase of a test has ended."""
        if report.failed and report.when != "call":
            self.broken.append(f"{report.nodeid}: {report.longreprtext}")
        elif report.when == "call":
            (self.failed if report.failed else self.passed).append(report.nodeid)


def missed_by(guard: Guard) -> str:
    """The first test that fails while the guard is off, "" if all pass; raises NoAnswer or NoSuchPosition."""
    with switched_off(guard.patch):
        return next(iter(ask(guard.asks).failed), "")


def ask(tests: Sequence[str]) -> Results:
    """Run these tests, up to the first that fails; raises NoAnswer.

    pytest runs only those that need a fixture: it takes a hundred times as long.
    """
    if not tests:
        raise NoAnswer("no test is named")
    found = Results()
    plain = {test: calls for test in tests if (calls := plain_calls(test)) is not None}
    for test, calls in plain.items():
        (found.passed if all(map(_passes, calls)) else found.failed).append(test)
        if found.failed:
            return found
    if others := [test for test in tests if test not in plain]:
        _ask_pytest(others, found)
    return found


def plain_calls(test: str) -> list[Callable[[], object]] | None:
    """The calls of a whole test function with all its parameters; None if it needs more than those."""
    file, _, name = test.partition("::")
    if not name or "[" in name:
        return None
    function = getattr(importlib.import_module(file.removesuffix(".py").replace("/", ".")), name, None)
    marks: Marks = getattr(function, "pytestmark", [])
    if function is None or any(mark.name != "parametrize" for mark in marks):
        return None
    calls = [partial(function, **dict(ChainMap(*chosen))) for chosen in product(*map(_choices, marks))]
    named = {name for call in calls for name in call.keywords}
    return [*calls] if named == set(inspect.signature(function).parameters) else None


def _choices(mark: pytest.Mark) -> list[dict[str, Any]]:
    names = [name.strip() for name in mark.args[0].split(",")] if isinstance(mark.args[0], str) else mark.args[0]
    return [dict(zip(names, _values(value, len(names)), strict=True)) for value in mark.args[1]]


def _values(value: Any, count: int) -> Sequence[Any]:
    if isinstance(value, PARAM):
        return tuple(value.values)
    return (value,) if count == 1 else value


def _passes(call: Callable[[], object]) -> bool:
    try:
        call()
    except (Exception, pytest.fail.Exception):  # noqa: BLE001 - however it fails, it misses the guard
        return False
    return True


def _ask_pytest(tests: Sequence[str], found: Results) -> None:
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        code = pytest.main([*QUIETLY, *tests], plugins=[found])
    if found.broken or code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise NoAnswer(f"{', '.join(tests)}: {code!r} {found.broken} {output.getvalue()}")
