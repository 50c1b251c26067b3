"""What a burst writes is spread over keys, since a key takes 1,000 units a second; older records have one key."""

from collections import Counter
from dataclasses import replace

from stepward.adapters.dynamodb.indexes import ATTENTION_KEYS
from tests.contract.test_attention_contract import in_error
from tests.contract.test_rejects_contract import REJECT
from tests.contract.worlds.store_worlds import NOW, DynamoWorld, submitted

MANY = 48


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
