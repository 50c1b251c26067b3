"""What every implementation of `ports.Rejects` promises."""

from dataclasses import replace

import pytest

from stepward.adapters.dynamodb.rejects import IN_ROW
from stepward.domain.rejects import Reject
from stepward.ports import Rejects
from tests.contract.worlds.store_worlds import NOW, StoreWorld

HOUR = 3_600_000
DAY = 24 * HOUR
REJECT = Reject("m-1", "orders", NOW, "items[0].qty", "Expected `int`, got `str`", '{"qty":"2"}', "ord-1")
ODD = "é雪\U0001f600 \ud83d \x00\x0b\ufffe\ufeff\r\n\t"
MIB = 1_048_576


@pytest.fixture
def rejects(stores: StoreWorld) -> Rejects:
    return stores.rejects(lambda: NOW + HOUR)


def listed(rejects: Rejects, most: int) -> list[Reject]:
    """The newest rejects, each with its body."""
    return [rejects.whole(reject) for reject in rejects.newest(most)]


def mib_of(text: str) -> str:
    size = len(text.encode("utf-8", "surrogatepass"))
    return text * (MIB // size) + "x" * (MIB % size)


def test_nothing_is_stored_at_first(rejects: Rejects) -> None:
    assert list(rejects.newest(10)) == []


@pytest.mark.parametrize("reject", [REJECT, replace(REJECT, order_id="")], ids=["of an order", "naming no order"])
def test_a_reject_comes_back_as_it_was_stored(rejects: Rejects, reject: Reject) -> None:
    rejects.keep(reject)

    assert list(rejects.newest(10)) == [reject]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("", id="empty"),
        pytest.param("   ", id="blank"),
        pytest.param(ODD, id="odd characters"),
        pytest.param("x" * IN_ROW, id="just small enough for its row"),
        pytest.param("x" * (IN_ROW - 1) + "é", id="one byte too large for its row"),
        pytest.param(mib_of("z"), id="as large as SQS allows"),
        pytest.param(mib_of(ODD), id="as large as SQS allows, odd characters"),
    ],
)
def test_a_body_is_stored_whole(rejects: Rejects, body: str) -> None:
    """A body may be larger than a row, and need not be text that DynamoDB would take."""
    rejects.keep(replace(REJECT, body=body))

    (found,) = listed(rejects, 10)
    assert found.body == body


def test_the_newest_come_first_and_no_more_than_asked_for(rejects: Rejects) -> None:
    oldest = replace(REJECT, message_id="m-old", received_at=NOW - 13 * DAY)
    yesterday = replace(REJECT, message_id="m-yesterday", received_at=NOW - HOUR)
    newest = replace(REJECT, message_id="m-new", received_at=NOW + HOUR, body=mib_of("z"))
    for reject in (yesterday, newest, REJECT, oldest):
        rejects.keep(reject)

    assert listed(rejects, 10) == [newest, REJECT, yesterday, oldest]
    assert listed(rejects, 2) == [newest, REJECT]
    assert list(rejects.newest(0)) == []


def test_two_messages_of_one_millisecond_are_two(rejects: Rejects) -> None:
    rejects.keep(REJECT)
    rejects.keep(replace(REJECT, message_id="m-2"))

    assert [reject.message_id for reject in rejects.newest(10)] == ["m-2", "m-1"]


def test_a_message_stored_twice_is_stored_once(rejects: Rejects) -> None:
    """S18: a redelivered message lands where its first delivery did."""
    large = replace(REJECT, body=mib_of(ODD))
    rejects.keep(large)
    rejects.keep(large)

    assert listed(rejects, 10) == [large]
