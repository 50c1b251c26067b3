"""What a burst writes is spread over keys, since a key takes 1,000 units a second; older records have one key."""

from stepward.adapters.dynamodb.indexes import ATTENTION_KEYS
from tests.contract.test_attention_contract import in_error
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
