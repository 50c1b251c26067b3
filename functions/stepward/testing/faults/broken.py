"""How a world fails."""

ENDLESS = "no end"
"""What breaks, in place of an invariant, if an order would go on failing for ever: nothing is to be found out of it."""


class Broken(BaseException):
    """An invariant does not hold; no code of the engine can catch that."""

    def __init__(self, invariant: str, order_id: str, what: str) -> None:
        super().__init__(f"{invariant}: {what}")
        self.invariant = invariant
        self.order_id = order_id
