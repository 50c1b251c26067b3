"""What every implementation of `ports.Controls` keeps."""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import boto3
import pytest
from moto import mock_aws

from stepward.domain.coordination.breaker import Breaker, Mode, Pause
from stepward.domain.coordination.shared_record import Control
from stepward.domain.errors import Rejected
from stepward.ports import Controls
from stepward.testing.memory.shared_records import MemoryControls
from tests.contract.worlds.control_tables import dynamo_controls

NAME = "breaker/payments"


@pytest.fixture(params=["memory", "moto", pytest.param("cloud", marks=pytest.mark.cloud)])
def controls(request: pytest.FixtureRequest) -> Iterator[Controls]:
    match request.param:
        case "memory":
            yield MemoryControls()
        case "moto":
            with mock_aws():
                yield dynamo_controls(boto3.client("dynamodb"))
        case _:
            access = request.getfixturevalue("cloud_access")
            yield dynamo_controls(boto3.client("dynamodb", **access), access["endpoint_url"])


def test_what_was_never_written_is_not_there(controls: Controls) -> None:
    assert controls.read(NAME) is None


def test_a_record_comes_back_as_it_was_written(controls: Controls) -> None:
    breaker = Breaker(Mode.OPEN, 3, 2, 1_800_000_000_000, 1_800_000_010_000, "p-1", Pause("ada", "ärger", 7))
    control = Control(NAME, 1, breaker.body())

    assert controls.write(control, replaces=None)

    found = controls.read(NAME)
    assert found == control
    assert found is not None
    assert Breaker.of(found.body) == breaker


def test_one_that_is_there_is_not_made_again(controls: Controls) -> None:
    first = Control(NAME, 1, {"holder": "a"})
    assert controls.write(first, replaces=None)

    assert not controls.write(Control(NAME, 1, {"holder": "b"}), replaces=None)

    assert controls.read(NAME) == first


def test_a_write_wins_on_the_revision_that_was_read(controls: Controls) -> None:
    first = Control(NAME, 1, {"holder": "a"})
    controls.write(first, replaces=None)
    winner, loser = replace(first, revision=2, body={"holder": "b"}), replace(first, revision=2, body={"holder": "c"})

    assert controls.write(winner, replaces=first)
    assert not controls.write(loser, replaces=first)

    assert controls.read(NAME) == winner


def test_one_that_is_gone_is_not_replaced(controls: Controls) -> None:
    """Design rule 7: updates never create."""
    ghost = Control(NAME, 4, {})

    assert not controls.write(replace(ghost, revision=5), replaces=ghost)

    assert controls.read(NAME) is None


def test_records_do_not_touch_each_other(controls: Controls) -> None:
    lease = Control("lease/0", 1, {"holder": "a"})
    controls.write(lease, replaces=None)
    controls.write(Control(NAME, 1, {}), replaces=None)

    assert controls.read("lease/0") == lease


def test_what_is_no_plain_data_is_refused(controls: Controls) -> None:
    with pytest.raises(Rejected):
        controls.write(Control(NAME, 1, {"at": 1.5}), replaces=None)

    assert controls.read(NAME) is None


def test_threads_may_share_it(controls: Controls) -> None:
    """An agent serves its requests in threads; each name here is written by one of them alone."""
    names = [f"lease/{uuid.uuid4().hex}" for _ in range(8)]
    with ThreadPoolExecutor(len(names)) as threads:
        written = threads.map(partial(controls.write, replaces=None), [Control(name, 1, {}) for name in names])
        assert all(written)

    assert [controls.read(name) for name in names] == [Control(name, 1, {}) for name in names]
