"""A clock that the test holds."""

from dataclasses import dataclass


@dataclass
class Clock:
    now: int = 1_000_000

    def __call__(self) -> int:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += int(seconds * 1000)
