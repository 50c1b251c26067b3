"""What an order of this application costs."""

from orders import app
from stepward.cli.cost.item_size import KB, size_of
from tests.contract.worlds.store_worlds import DynamoWorld
from tests.integration.dynamodb.test_item_sizes import Life, costs_ten


def test_an_order_of_this_application_costs_ten_write_units_and_stays_under_one_kb(moto: DynamoWorld) -> None:
    life = Life(moto, app.keys, app=app)
    costs_ten(life)
    assert max(map(size_of, life.items)) < KB
