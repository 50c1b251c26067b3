"""What a burst writes is spread over keys, since a key takes 1,000 units a second; older records have one key.

A large body is an object of its own.
"""

from collections import Counter
from dataclasses import replace

import pytest

from stepward.adapters.dynamodb.indexes import ATTENTION_KEYS
from stepward.adapters.dynamodb.rejects import IN_ROW, PART, DynamoRejects
from stepward.domain.errors import Corrupt, Misconfigured, StepwardError
from tests.contract.test_attention_contract import in_error
from tests.contract.test_rejects_contract import MIB, REJECT, listed
from tests.contract.worlds.store_worlds import NOW, DynamoWorld, submitted

MANY = 48
LARGE = replace(REJECT, body="x" * IN_ROW + "y")


def test_orders_that_fail_together_have_many_keys_and_one_list(moto: DynamoWorld) -> None:
    """S7, K4: nothing is throttled in an outage; one that older code listed has its place among them."""
    names = [f"ord-{number}" for number in range(MANY)]
    for at, name in enumerate(names):
        task = submitted(moto.store, name)
        moto.store.save(in_error(task, NOW + at), replaces=task)
    keys = [int(moto.raw(name)["Attention"]["N"]) for name in names]
    assert set(keys) <= set(ATTENTION_KEYS)
    assert max(keys.count(key) for key in ATTENTION_KEYS) < MANY // 4

    old = next(name for name, key in zip(names, keys, strict=True) if key != 1)
    moto.client.put_item(TableName=moto.tables.tasks, Item={**moto.raw(old), "Attention": {"N": "1"}})

    assert list(moto.store.needing_attention()) == names


def test_messages_that_are_rejected_together_have_many_keys_and_one_list(moto: DynamoWorld) -> None:
    """S18, K4: one that older code kept has its place among them, and one that both kept is one."""
    stored, table = moto.rejects(lambda: NOW + MANY), moto.tables.rejects
    rejects = [replace(REJECT, message_id=f"m-{number}", received_at=NOW + number) for number in range(MANY)]
    for reject in rejects:
        stored.keep(reject)
    rows = moto.client.scan(TableName=table)["Items"]
    assert max(Counter(row["Day"]["S"] for row in rows).values()) < MANY // 4

    kept, moved = rows[:2]
    moto.client.delete_item(TableName=table, Key={name: moved[name] for name in ("Day", "Key")})
    for row in (kept, moved):
        moto.client.put_item(TableName=table, Item={**row, "Day": {"S": row["Day"]["S"].partition("#")[0]}})

    assert list(stored.newest(MANY * 2)) == rejects[::-1]


@pytest.fixture
def rejects(moto: DynamoWorld) -> DynamoRejects:
    return moto.rejects(lambda: NOW)


def test_a_large_body_takes_nothing_of_what_its_key_may_write(moto: DynamoWorld, rejects: DynamoRejects) -> None:
    """S18, K4: large messages that are rejected together are kept, and cost less."""
    rejects.keep(replace(REJECT, body="x" * MIB))

    (row,) = moto.client.scan(TableName=moto.tables.rejects)["Items"]
    assert row["Body"] == {"B": b""}


def test_a_list_reads_no_large_body(rejects: DynamoRejects) -> None:
    rejects.keep(LARGE)

    (found,) = replace(rejects, bodies=None).newest(10)
    assert (found.body, found.reason) == ("", LARGE.reason)
    with pytest.raises(Misconfigured, match=LARGE.message_id):
        replace(rejects, bodies=None).whole(found)


def test_what_cannot_be_kept_whole_is_not_kept(moto: DynamoWorld, rejects: DynamoRejects) -> None:
    """S18: its message comes back; a row without its body would let it be acknowledged."""
    elsewhere = replace(moto.bodies(), bucket="denied")

    with pytest.raises(StepwardError, match="denied"):
        replace(rejects, bodies=lambda: elsewhere).keep(LARGE)
    assert rejects.newest(10) == []


def test_a_body_that_has_expired_is_said_to_be_gone(moto: DynamoWorld, rejects: DynamoRejects) -> None:
    rejects.keep(LARGE)
    (found,) = rejects.newest(10)
    bodies = moto.bodies()
    bodies.client().delete_object(Bucket=bodies.bucket, Key=found.kept_at)

    with pytest.raises(Corrupt, match="is gone"):
        rejects.whole(found)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("x" * PART, id="exactly one part"),
        pytest.param("x" * PART + "y", id="one byte more than a part"),
        pytest.param("x" * (PART - 1) + "é雪" * 9, id="a character across two parts"),
        pytest.param("z" * MIB, id="as large as SQS allows"),
    ],
)
def test_without_a_bucket_a_body_is_in_several_rows_which_are_read_as_one(rejects: DynamoRejects, body: str) -> None:
    """S18, I10: as older code kept it, and as a function keeps it before its new settings reach it."""
    reject = replace(REJECT, body=body)
    replace(rejects, bodies=None).keep(reject)

    assert listed(rejects, 10) == [reject]
