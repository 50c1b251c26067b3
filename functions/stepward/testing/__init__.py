"""The testing kit: runs an application in memory, under virtual time. No Lambda function loads it.

    def test_a_declined_card_is_undone(engine):
        engine.service(charge).declines("card expired")
        order = engine.submit(fulfilment, ORDER)
        engine.run()
        assert order.state == "Undone"

`Engine(app)` is the same without pytest. `crash_points` runs an order again and again, with a death before and after
every call to a port; `worlds` runs it under seeded random faults. Both raise AssertionError with the order's timeline.
"""

from stepward.testing.crash import crash_points
from stepward.testing.engine import Engine
from stepward.testing.faults.profile import Mood
from stepward.testing.harness import Order
from stepward.testing.random_worlds import worlds
from stepward.testing.secrets import known_secrets
from stepward.testing.services import Service
from stepward.testing.settings import Settings

__all__ = ["Engine", "Mood", "Order", "Service", "Settings", "crash_points", "known_secrets", "worlds"]
