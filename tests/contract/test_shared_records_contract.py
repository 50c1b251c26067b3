"""What every implementation of `ports.SharedRecords` promises."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import boto3
import pytest

from stepward.domain.coordination.breaker import AgentPause, Breaker, Mode
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import Rejected
from stepward.ports import SharedRecords
from stepward.testing.memory.shared_records import MemorySharedRecords
from tests.contract.worlds.access import Access
from tests.contract.worlds.shared_record_tables import dynamo_shared_records

NAME = "breaker/payments"


@pytest.fixture
def shared_records(access: Access | None) -> SharedRecords:
    if access is None:
        return MemorySharedRecords()
    return dynamo_shared_records(boto3.client("dynamodb", **access), access.get("endpoint_url"))


def test_what_was_never_written_is_not_there(shared_records: SharedRecords) -> None:
    assert shared_records.read(NAME) is None


def test_a_record_comes_back_as_it_was_written(shared_records: SharedRecords) -> None:
    breaker = Breaker(Mode.OPEN, 3, 2, 1_800_000_000_000, 1_800_000_010_000, "p-1", AgentPause("ada", "ärger", 7))
    shared_record = SharedRecord(NAME, 1, breaker.body())

    assert shared_records.write(shared_record, replaces=None)

    found = shared_records.read(NAME)
    assert found == shared_record
    assert found is not None
    assert Breaker.of(found.body) == breaker


def test_one_that_is_there_is_not_made_again(shared_records: SharedRecords) -> None:
    first = SharedRecord(NAME, 1, {"holder": "a"})
    assert shared_records.write(first, replaces=None)

    assert not shared_records.write(SharedRecord(NAME, 1, {"holder": "b"}), replaces=None)

    assert shared_records.read(NAME) == first


def test_a_write_wins_on_the_revision_that_was_read(shared_records: SharedRecords) -> None:
    first = SharedRecord(NAME, 1, {"holder": "a"})
    shared_records.write(first, replaces=None)
    winner, loser = replace(first, revision=2, body={"holder": "b"}), replace(first, revision=2, body={"holder": "c"})

    assert shared_records.write(winner, replaces=first)
    assert not shared_records.write(loser, replaces=first)

    assert shared_records.read(NAME) == winner


def test_one_that_is_gone_is_not_replaced(shared_records: SharedRecords) -> None:
    """Design rule 7: updates never create."""
    ghost = SharedRecord(NAME, 4, {})

    assert not shared_records.write(replace(ghost, revision=5), replaces=ghost)

    assert shared_records.read(NAME) is None


def test_records_do_not_touch_each_other(shared_records: SharedRecords) -> None:
    lease = SharedRecord("lease/0", 1, {"holder": "a"})
    shared_records.write(lease, replaces=None)
    shared_records.write(SharedRecord(NAME, 1, {}), replaces=None)

    assert shared_records.read("lease/0") == lease


def test_what_is_no_plain_data_is_refused(shared_records: SharedRecords) -> None:
    with pytest.raises(Rejected):
        shared_records.write(SharedRecord(NAME, 1, {"at": 1.5}), replaces=None)

    assert shared_records.read(NAME) is None


def test_threads_may_share_it(shared_records: SharedRecords) -> None:
    """An agent serves its requests in threads; each name here is written by one of them alone."""
    leases = [SharedRecord(f"lease/{uuid.uuid4().hex}", 1, {}) for _ in range(8)]
    with ThreadPoolExecutor(len(leases)) as threads:
        assert all(threads.map(partial(shared_records.write, replaces=None), leases))

    assert [shared_records.read(lease.name) for lease in leases] == leases
