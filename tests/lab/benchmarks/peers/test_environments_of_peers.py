import re

import pytest

from tests.lab.benchmarks.peers.environments import NAMES, ROOT
from tests.lab.benchmarks.peers.speed import PEERS, Peer, Skipped, measure

pytestmark = pytest.mark.lab


def test_a_peer_that_cannot_be_had_is_skipped_with_the_reason() -> None:
    nowhere = Peer("other", "nowhere", "nowhere", "")

    (skipped,) = measure([nowhere], 1, print)

    assert isinstance(skipped, Skipped)
    assert skipped.reason.startswith("requirements/peers-nowhere.txt is missing")


def test_every_peer_has_an_environment_and_a_module() -> None:
    assert {peer.environment for peer in PEERS} == set(NAMES)
    for peer in PEERS:
        assert (ROOT / "tests" / "benchmarks" / "peers" / "runs" / f"{peer.module}.py").exists()


@pytest.mark.parametrize("name", NAMES)
def test_every_package_of_a_peer_is_pinned_by_its_hash(name: str) -> None:
    pinned = (ROOT / "requirements" / f"peers-{name}.txt").read_text()
    packages = re.split(r"^(?=[a-z0-9])", pinned, flags=re.MULTILINE)[1:]

    assert packages
    assert all("==" in package and "--hash=sha256:" in package for package in packages)
