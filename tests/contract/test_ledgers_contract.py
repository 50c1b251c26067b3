"""What every implementation of `ports.Ledgers` promises."""

import pytest

from stepward.domain.errors import Rejected
from tests.contract.worlds.access import Access
from tests.contract.worlds.lane_worlds import LedgerWorld, ledger_world

KEY = "customer-7/2026-01-01-b.jsonl"
CONTENT = bytes(range(256)) * 1024


@pytest.fixture
def world(access: Access | None) -> LedgerWorld:
    return ledger_world(access)


def version(world: LedgerWorld, content: bytes = CONTENT) -> str:
    """The version of the object as it is now, which holds `content`."""
    world.put(KEY, content)
    found = world.ledgers.version(KEY)
    assert found
    return found


def test_an_object_that_is_not_there_has_no_version(world: LedgerWorld) -> None:
    assert world.ledgers.version(KEY) is None


def test_the_version_changes_with_the_content(world: LedgerWorld) -> None:
    first = version(world)

    assert world.ledgers.version(KEY) == first
    assert version(world, b"other") != first


@pytest.mark.parametrize("start", [0, 1, 65_536, 200_000, len(CONTENT) - 1])
def test_an_object_is_read_from_any_of_its_bytes_on(world: LedgerWorld, start: int) -> None:
    found = version(world)

    assert b"".join(world.ledgers.read(KEY, found, start)) == CONTENT[start:]


def test_an_object_comes_in_pieces(world: LedgerWorld) -> None:
    """C8: it is never held whole."""
    found = version(world)

    assert max(len(piece) for piece in world.ledgers.read(KEY, found, 0)) <= 65_536


@pytest.mark.parametrize("content", [b"", CONTENT])
def test_there_is_nothing_to_read_at_its_end(world: LedgerWorld, content: bytes) -> None:
    found = version(world, content)

    assert list(world.ledgers.read(KEY, found, len(content))) == []


def test_an_object_that_has_changed_is_not_read(world: LedgerWorld) -> None:
    """C3: a ledger begun with one object cannot go on with another."""
    found = version(world)
    version(world, CONTENT + b"more")

    with pytest.raises(Rejected, match="changed"):
        list(world.ledgers.read(KEY, found, 0))


def test_an_object_that_has_vanished_is_not_read(world: LedgerWorld) -> None:
    found = version(world)
    world.delete(KEY)

    with pytest.raises(Rejected, match="objectKey"):
        list(world.ledgers.read(KEY, found, 0))
