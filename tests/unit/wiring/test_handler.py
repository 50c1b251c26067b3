"""What the first event of a function does before it is worked on."""

from __future__ import annotations

import gc
import subprocess
import sys
from typing import NoReturn

import pytest

from stepward.domain.errors import Misconfigured
from stepward.wiring import Handler


def _misconfigured() -> NoReturn:
    raise Misconfigured("STEPWARD_TASKS_TABLE is not set")


def test_the_collector_works_again_even_if_a_setting_is_missing() -> None:
    gc.disable()
    try:
        with pytest.raises(Misconfigured):
            _ = Handler(_misconfigured).worker
        assert gc.isenabled()
    finally:
        gc.enable()
        gc.unfreeze()


@pytest.mark.parametrize(("environment", "at_work"), [({}, "True"), ({"AWS_LAMBDA_FUNCTION_NAME": "agent"}, "False")])
def test_the_collector_rests_only_while_lambda_loads_a_function(environment: dict[str, str], at_work: str) -> None:
    program = f"import sys; sys.path = {sys.path!r}; import gc, stepward.wiring; print(gc.isenabled())"
    ended = subprocess.run([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, check=True)  # noqa: S603 - our own words
    assert ended.stdout.decode().strip() == at_work
