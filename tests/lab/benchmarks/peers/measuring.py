"""Runs the same order again and again, and reports how many ended in a second and how long each took.

It uses the standard library only, because every peer imports it in an environment of its own.
"""

import asyncio
import json
import math
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import count
from time import perf_counter

WARM_UP = 10
CONCURRENCIES = (1, 50)
SECONDS = "STEPWARD_BENCH_SECONDS"
"""The variable that says for how long each point is measured."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one engine at one concurrency; every order is timed from its start to its known end."""

    name: str
    concurrency: int
    orders: int
    orders_per_s: float
    p50_ms: float
    p99_ms: float

    @staticmethod
    def of(name: str, concurrency: int, took: Sequence[float], elapsed: float) -> "Measured":
        """The figures of orders that took `took` seconds each, all within `elapsed` seconds."""
        ordered = sorted(took)
        p50, p99 = (round(percentile(ordered, percent) * 1000, 2) for percent in (50, 99))
        return Measured(name, concurrency, len(ordered), round(len(ordered) / elapsed, 1), p50, p99)


def percentile(ordered: Sequence[float], percent: float) -> float:
    """The smallest of `ordered` that `percent` percent of them do not exceed."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def in_threads(name: str, order: Callable[[str], None]) -> None:
    """Measure `order`, called with an order id, on threads; each starts the next order when one has ended."""
    numbers = count()
    for _ in range(WARM_UP):
        order(f"order-{next(numbers)}")
    for concurrency in CONCURRENCIES:
        took: list[float] = []
        until = _until()

        def keep_ordering(took: list[float] = took, until: float = until) -> None:
            ended = 0.0
            while ended < until:
                began = perf_counter()
                order(f"order-{next(numbers)}")
                took.append((ended := perf_counter()) - began)

        began = perf_counter()
        with ThreadPoolExecutor(concurrency) as pool:
            for worker in [pool.submit(keep_ordering) for _ in range(concurrency)]:
                worker.result()
        _say(Measured.of(name, concurrency, took, perf_counter() - began))


async def in_tasks(name: str, order: Callable[[str], Awaitable[object]]) -> None:
    """The same as `in_threads`, for an `order` that is awaited."""
    numbers = count()
    for _ in range(WARM_UP):
        await order(f"order-{next(numbers)}")
    for concurrency in CONCURRENCIES:
        took: list[float] = []
        until, began = _until(), perf_counter()
        await asyncio.gather(*(_keep_ordering(order, numbers, took, until) for _ in range(concurrency)))
        _say(Measured.of(name, concurrency, took, perf_counter() - began))


async def _keep_ordering(
    order: Callable[[str], Awaitable[object]], numbers: Iterator[int], took: list[float], until: float
) -> None:
    ended = 0.0
    while ended < until:
        began = perf_counter()
        await order(f"order-{next(numbers)}")
        took.append((ended := perf_counter()) - began)


def pause(seconds: float) -> None:
    """Let other threads run."""
    threading.Event().wait(seconds)


def _until() -> float:
    return perf_counter() + float(os.environ.get(SECONDS, "5"))


def _say(measured: Measured) -> None:
    sys.stdout.write(json.dumps(asdict(measured)) + "\n")
    sys.stdout.flush()
