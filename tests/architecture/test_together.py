"""The tests that one worker runs are still where they are looked for."""

from pathlib import Path

from tests.architecture.test_samples import OF_THE_APPLICATION
from tests.together import TOGETHER, place_of

ROOT = Path(__file__).parents[2]


def test_what_one_worker_runs_is_there_and_the_rest_goes_one_by_one() -> None:
    gone = tuple(f"tests/{folder}" for folder in OF_THE_APPLICATION if not (ROOT / "tests" / folder).exists())
    assert [place for place in TOGETHER if not ((ROOT / place).exists() or place.startswith(gone))] == []
    assert {place_of(f"{place}test_a.py::test_b[c]") for place in TOGETHER} == set(TOGETHER)
    assert place_of("tests/unit/task/test_a.py::test_b[c]") == "tests/unit/task/test_a.py::test_b[c]"
