import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.lab.benchmarks.peers.measuring import (
    CONCURRENCIES,
    SECONDS,
    WARM_UP,
    Measured,
    in_tasks,
    in_threads,
    percentile,
)
from tests.lab.benchmarks.peers.speed import NAMES, PEERS, Peer, Skipped, figures, measure
from tests.lab.results import ROOT, Machine

pytestmark = pytest.mark.lab


@pytest.fixture(autouse=True)
def _briefly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECONDS, "0.01")


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert percentile([1.0, 2.0, 3.0, 4.0], 50) == 2.0
    assert percentile([1.0, 2.0, 3.0, 4.0], 99) == 4.0
    assert percentile([7.0], 50) == 7.0


def test_figures_are_orders_a_second_and_milliseconds() -> None:
    measured = Measured.of("engine", 2, [0.002, 0.001, 0.003], elapsed=2.0)

    assert measured == Measured("engine", 2, orders=3, orders_per_s=1.5, p50_ms=2.0, p99_ms=3.0)


def test_what_a_server_says_between_figures_is_skipped() -> None:
    line = json.dumps({"name": "x", "concurrency": 1, "orders": 2, "orders_per_s": 1.0, "p50_ms": 3.0, "p99_ms": 4.0})

    assert list(figures(f"Server: listening\n\n{line}\n")) == [Measured("x", 1, 2, 1.0, 3.0, 4.0)]


def by_threads(seen: list[str]) -> None:
    in_threads("engine", seen.append)


def by_tasks(seen: list[str]) -> None:
    async def order(name: str) -> None:
        await asyncio.sleep(0)
        seen.append(name)

    asyncio.run(in_tasks("engine", order))


@pytest.mark.parametrize("measured", [by_threads, by_tasks])
def test_no_order_is_run_twice(measured: Callable[[list[str]], None], capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []

    measured(seen)

    assert len(seen) == len(set(seen))
    assert [one.concurrency for one in figures(capsys.readouterr().out)] == list(CONCURRENCIES)


def test_an_order_that_fails_ends_the_measurement() -> None:
    seen: list[str] = []

    def order(name: str) -> None:
        seen.append(name)
        if len(seen) > WARM_UP:
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        in_threads("engine", order)


def test_figures_from_a_busy_machine_are_marked() -> None:
    idle = Machine(cores=2, memory_gb=24, system="Linux x86_64", python="3.11.7", busy=0.2)

    assert str(idle) == "2 cores, 24 GB, Linux x86_64, Python 3.11.7, load 0.2"
    assert "TOO BUSY" in str(replace(idle, busy=1.0))


def test_a_peer_that_cannot_be_had_is_skipped_with_the_reason() -> None:
    nowhere = Peer("other", "nowhere", "nowhere", "")

    (skipped,) = measure([nowhere], 1, print)

    assert isinstance(skipped, Skipped)
    assert skipped.reason.startswith("requirements/peers-nowhere.txt is missing")


def test_every_peer_has_an_environment_and_a_module() -> None:
    assert {peer.environment for peer in PEERS} == set(NAMES)
    for peer in PEERS:
        assert Path(__file__).with_name("runs").joinpath(f"{peer.module}.py").exists()


@pytest.mark.parametrize("name", NAMES)
def test_every_package_of_a_peer_is_pinned_by_its_hash(name: str) -> None:
    pinned = (ROOT / "requirements" / f"peers-{name}.txt").read_text()
    packages = re.split(r"^(?=[a-z0-9])", pinned, flags=re.MULTILINE)[1:]

    assert packages
    assert all("==" in package and "--hash=sha256:" in package for package in packages)
