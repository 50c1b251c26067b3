"""The pytest plugin, in a project of its own."""

import subprocess
import sys
from pathlib import Path

PLUGIN = ("-p", "no:stepward", "-p", "stepward.testing.plugin")
"""By its module, whether or not this environment knows its entry point."""
APP = """
import pytest
from stepward import Agent, App, Step, Workflow, minutes

bank = Agent("bank")

@bank.operation
def charge(call):
    return {}

fulfilment = Workflow("fulfilment", 1, [Step(charge, complete_within=minutes(1))])

@pytest.fixture
def app():
    return App("shop", workflows=[fulfilment])

"""
TESTS = """
def test_it_works(engine):
    order = engine.submit(fulfilment, {"orderId": "ord-7"})
    engine.run()
    assert order.state == "Processed"

def test_it_fails(engine):
    order = engine.submit(fulfilment, {"orderId": "ord-8"})
    engine.run()
    assert order.state == "Undone"
"""


def _run(folder: Path, tests: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_shop.py").write_text(tests)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PLUGIN, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)  # noqa: S603 - our own


def test_a_failure_shows_the_timeline_of_its_order_and_of_no_other(tmp_path: Path) -> None:
    made = _run(tmp_path, APP + TESTS)

    assert "1 failed, 1 passed" in made.stdout
    assert "the timeline of ord-8" in made.stdout
    assert "Completed: charge at attempt 1" in made.stdout
    assert "ord-7" not in made.stdout.partition("FAILURES")[2]


def test_the_plain_kit_needs_neither_pytest_nor_moto_nor_a_client_of_aws() -> None:
    code = "import sys, stepward.testing; print(sorted({'pytest', 'moto', 'hypothesis', 'boto3'} & sys.modules.keys()))"
    command = [sys.executable, "-c", code]

    made = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own

    assert made.stdout == "[]\n"


def test_a_project_without_an_app_is_told_to_define_one(tmp_path: Path) -> None:
    made = _run(tmp_path, "def test_it(engine):\n    pass\n")

    assert "define a fixture `app` that returns it" in made.stdout
