from importlib.util import find_spec

from tests.lab.benchmarks.loading import KINDS
from tests.lab.benchmarks.startup import PROGRAMS


def test_the_functions_and_modules_that_are_measured_for_each_kind_are_there() -> None:
    assert {function for function, _ in KINDS.values()} <= PROGRAMS.keys()
    assert [name for _, modules in KINDS.values() for name in modules if find_spec(name) is None] == []
