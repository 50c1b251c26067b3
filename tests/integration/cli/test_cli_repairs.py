import json

import pytest

from stepward.domain.messages import Resubmit
from stepward.ports import Reject
from stepward.wire.messages import decode_for_scheduler
from tests.integration.cli.conftest import Run, Shop
from tests.unit.cli.lives import Life, failed, failed_twice, recovered

pytestmark = pytest.mark.cloud


def asked(shop: Shop) -> list[object]:
    return [decode_for_scheduler(body) for body in shop.received(shop.connection.deployment.scheduler_queue_url)]


def test_a_failed_step_is_resubmitted_at_the_attempt_that_was_seen(run: Run, shop: Shop) -> None:
    """S7: the operator resubmits the failed step."""
    shop.keep(failed())

    result = run("resubmit", "ord-1", "--why", "card limit raised", "--who", "alex")

    assert result.exit_code == 0
    assert asked(shop) == [Resubmit("ord-1", "charge", 1, "alex", "card limit raised")]


def test_one_of_two_failed_steps_is_resubmitted_by_its_name(run: Run, shop: Shop) -> None:
    shop.keep(failed_twice())

    assert run("resubmit", "ord-1", "charge", "--why", "fixed", "--who", "alex").exit_code == 0
    assert asked(shop) == [Resubmit("ord-1", "charge", 1, "alex", "fixed")]


def test_a_resubmission_as_json_names_step_and_attempt(run: Run, shop: Shop) -> None:
    shop.keep(failed())

    told = json.loads(run("resubmit", "ord-1", "charge", "--why", "fixed", "--who", "alex", "--json").stdout)

    assert told == {"orderId": "ord-1", "step": "charge", "attempt": 1, "who": "alex", "why": "fixed"}
    assert len(asked(shop)) == 1


@pytest.mark.parametrize(
    ("life", "words", "complaint"),
    [
        (recovered(), ["ord-1"], "nothing of order ord-1 is in Error: reserve is Processed, charge is Processed"),
        (Life().start(0), ["ord-1"], "reserve is Processing, charge is Pending"),
        (failed(), ["ord-1", "reserve"], "reserve is Processed; in Error: charge"),
        (failed(), ["ord-1", "paint"], "has no step paint; its steps: "),
        (failed(), ["ord-2"], "no order ord-2"),
        (failed_twice(), ["ord-1"], "2 steps are in Error: reserve, charge; name one: stepward resubmit ord-1 reserve"),
    ],
)
def test_what_is_not_in_error_is_not_resubmitted(
    run: Run, shop: Shop, life: Life, words: list[str], complaint: str
) -> None:
    shop.keep(life)

    result = run("resubmit", *words, "--why", "fixed")

    assert result.exit_code == 1
    assert complaint in result.stderr
    assert asked(shop) == []


def test_a_resubmission_needs_a_reason(run: Run, shop: Shop) -> None:
    shop.keep(failed())

    assert run("resubmit", "ord-1").exit_code == 2
    assert run("resubmit", "ord-1", "--why", "  ").exit_code == 2
    assert asked(shop) == []


def keep_rejects(shop: Shop, count: int) -> None:
    now = shop.connection.now()
    for number in range(count):
        reject = Reject(f"m{number}-0000", "orders", now - 1000 + number, "items", "is missing", f"bödy {number}\r\n")
        shop.connection.rejects.keep(reject)


def test_rejects_are_listed_newest_first_without_their_bodies(run: Run, shop: Shop) -> None:
    keep_rejects(shop, 3)

    listed, some = json.loads(run("rejects", "--json").stdout), run("rejects", "--limit", "2")

    assert [reject["messageId"] for reject in listed["rejects"]] == ["m2-0000", "m1-0000", "m0-0000"]
    assert listed["rejects"][0]["field"] == "items"
    assert "body" not in listed["rejects"][0]
    assert "there are more" in some.stdout
    assert "m0-0000" not in some.stdout


def test_the_body_of_a_reject_comes_back_byte_for_byte(run: Run, shop: Shop) -> None:
    """What was rejected is kept whole, so that it can be corrected and sent again."""
    keep_rejects(shop, 2)

    assert run("rejects", "m1", "--body").stdout_bytes == "bödy 1\r\n".encode()
    assert json.loads(run("rejects", "m1", "--body", "--json").stdout)["rejects"][0]["body"] == "bödy 1\r\n"
    assert "bödy" not in run("rejects", "m1").stdout


def test_a_reject_that_is_not_there_or_not_clear_is_refused(run: Run, shop: Shop) -> None:
    keep_rejects(shop, 2)

    assert "2 rejected messages begin with m" in run("rejects", "m").stderr
    assert "no rejected message begins with x" in run("rejects", "x").stderr
    assert run("rejects", "--body").exit_code == 2


def test_no_rejects_is_said_so(run: Run) -> None:
    assert "No message was rejected" in run("rejects").stdout
