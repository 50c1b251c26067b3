"""How a world fails."""


class Broken(BaseException):
    """An invariant does not hold; no code of the engine can catch that."""

    def __init__(self, invariant: str, order_id: str, what: str) -> None:
        super().__init__(f"{invariant}: {what}")
        self.invariant = invariant
        self.order_id = order_id
