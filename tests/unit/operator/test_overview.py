"""Issue: what needs somebody, first thing at three in the morning."""

from dataclasses import replace

from stepward.domain.convoy.lane import Blocked, Lane
from stepward.domain.coordination.breaker import AgentPause
from stepward.domain.errors import Misconfigured
from stepward.domain.rejects import Reject
from stepward.operator.overview import InFlight, in_flight, overview
from tests.unit.cli.lives import SUBMITTED, Life
from tests.unit.operator.deployed import Deployed, failed_orders


def test_nothing_needs_anybody_where_all_is_well() -> None:
    deployed = Deployed()
    deployed.put(Life("ord-1").start(0))
    assert overview(deployed.connection) == []
    assert in_flight(deployed.connection) == InFlight(1, more=False)


def test_the_worst_comes_first_each_by_its_reason_with_the_command_that_looks_closer() -> None:
    """Issue: orders by reason, lanes with gaps from the first minute, agents, rejects and alarms."""
    deployed = Deployed()
    failed_orders(deployed, 3, "refused with code 17")
    failed_orders(deployed, 1, "sold out", "other")
    deployed.put(Life("quiet").start(0).pause(500))
    stopped = Blocked(2, "op: the order was cancelled at 1", SUBMITTED)
    deployed.lanes.lanes["ord-8"] = Lane("ord-8", last=1, highest=2, blocked=stopped)
    deployed.lanes.lanes["ord-9"] = Lane(
        "ord-9", last=1, highest=3, gap_since=deployed.now() - 1, due=deployed.now() + 9
    )
    deployed.connection.breakers.pause("payments", AgentPause("eve", "strike", SUBMITTED))
    deployed.rejects.keep(Reject("m-1", "orders", deployed.now(), "items", "is missing", "{}"))
    connection = replace(deployed.connection, alarms=lambda: [("throttled", "Functions are throttled", SUBMITTED)])

    found = [(need.what, need.count, need.words[0]) for need in overview(connection)]

    assert found == [
        ("alarm throttled", 1, "verify"),
        ("line orders in Error", 3, "find"),
        ("line order in Error", 1, "find"),
        ("lane blocked", 1, "convoy"),
        ("agent payments is paused", 1, "agents"),
        ("lane with a gap", 1, "convoy"),
        ("line order that waits", 1, "list"),
        ("reject of the last day", 1, "rejects"),
    ]
    assert overview(connection)[1].reason == "charge: refused with code N"


def test_a_part_that_may_not_be_read_hides_no_other() -> None:
    deployed = Deployed()
    failed_orders(deployed, 1)

    def denied() -> list[tuple[str, str, int]]:
        raise Misconfigured("AccessDenied")

    first, second = overview(replace(deployed.connection, alarms=denied))
    assert (first.what, first.reason) == ("alarms cannot be read", "AccessDenied")
    assert second.what == "line order in Error"
