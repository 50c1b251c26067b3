"""What an exception is by its type, and how much of it is kept."""

import http.client
import socket
import ssl

import pytest
import urllib3.exceptions
from botocore.exceptions import ClientError, ConnectTimeoutError, ReadTimeoutError

from stepward.domain.coordination.blame import (
    MOST_COUNTED,
    MOST_DEFECTS,
    MOST_REPORTED,
    QUIET,
    SEVERAL,
    Blame,
    Failure,
)
from stepward.domain.coordination.fault import LONGEST_TEXT, Fault, Origin, fault_of
from stepward.domain.errors import Conflict, Misconfigured, Rejected, Transient, wrong_with
from tests.factories import MINUTE, T0


def refused(code: str, status: int) -> ClientError:
    answer = {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(answer, "PutItem")  # type: ignore[arg-type]


class StripeTimeout(Exception):
    """Not known by its name."""


class Timeout(Exception):
    """Known by its name."""


@pytest.mark.parametrize(
    "error",
    [
        Transient("HTTP 503"),
        Conflict("busy"),
        OSError("unreachable"),
        ConnectionResetError("reset"),
        TimeoutError("late"),
        socket.gaierror("no such host"),
        ssl.SSLError("bad handshake"),
        http.client.IncompleteRead(b""),
        urllib3.exceptions.ReadTimeoutError(None, "/", "late"),  # type: ignore[arg-type]
        ReadTimeoutError(endpoint_url="x"),
        ConnectTimeoutError(endpoint_url="x"),
        refused("ProvisionedThroughputExceededException", 400),
        refused("InternalServerError", 500),
        Timeout("late"),
    ],
)
def test_what_is_of_the_transport_is_the_services_trouble(error: Exception) -> None:
    assert fault_of(error).origin is Origin.SERVICE


@pytest.mark.parametrize(
    "error",
    [
        KeyError("x"),
        ValueError("x"),
        FileNotFoundError("key.pem"),
        PermissionError("key.pem"),
        urllib3.exceptions.LocationParseError("http//"),
        refused("AccessDeniedException", 400),
        StripeTimeout("late"),
    ],
)
def test_any_other_may_be_the_orders_or_the_codes(error: Exception) -> None:
    assert fault_of(error).origin is Origin.UNKNOWN


def test_a_wrong_setting_is_one() -> None:
    assert fault_of(Misconfigured("X is not set")).origin is Origin.SETTING


def test_the_text_is_one_line_and_cut_and_may_be_left_out() -> None:
    error = ValueError("Ada Lovelace\n12 St James's Square " + "x" * 1_000)
    kept = fault_of(error)
    assert kept.text.startswith("ValueError: Ada Lovelace 12 St James's Square xxx")
    assert len(kept.text) == LONGEST_TEXT
    assert fault_of(error, keep_text=False).text == fault_of(ValueError()).text == "ValueError"


def bug(order: str, line: int = 1) -> Failure:
    return Failure(order, "ship", Fault(Origin.UNKNOWN, "KeyError", "KeyError: 'x'", f"ship.py:{line} ship"))


def met(blame: Blame, *orders: str, at: int = T0) -> Blame:
    for order in orders:
        blame = blame.met(bug(order), at)
    return blame


def test_only_several_orders_with_no_success_between_make_a_defect() -> None:
    names = [f"o{number}" for number in range(SEVERAL)]
    assert met(Blame(), *names[:-1], *names[:-1]).defects == ()
    assert len(met(Blame(), *names).defects) == 1
    apart = Blame()
    for line, name in enumerate(names):
        apart = apart.met(bug(name, line), T0)
    assert apart.defects == (), "each rose at another place"
    between = met(met(Blame(), *names[:-1]).worked("ship", T0), names[-1])
    assert between.defects == ()
    assert met(Blame(), *names).worked("recall", T0).defects, "another operation says nothing of this one"


def test_an_order_that_fails_by_itself_is_no_sign_until_nothing_has_worked_for_long() -> None:
    names = [f"o{number}" for number in range(SEVERAL)]
    alone = met(Blame(), *names[:-1]).worked("ship", T0)
    assert met(alone, *names, at=T0 + MINUTE).defects == ()
    assert len(met(alone, *names, at=T0 + QUIET).defects) == 1


def test_a_defect_that_ends_before_anybody_heard_of_it_is_no_news() -> None:
    blame = met(Blame(), "a", "b", "c")
    (news,) = blame.news(T0)
    assert not news.over
    worked = blame.worked("ship", T0)
    assert list(worked.news(T0 + QUIET)) == []

    told = worked.told(news.suspect.key, over=False)
    assert list(told.news(T0 + QUIET - 1)) == []
    (end,) = told.news(T0 + QUIET)
    assert end.over
    assert told.told(end.suspect.key, over=True) == Blame()


def test_the_record_stays_small() -> None:
    blame = met(Blame(), *[f"o{number}" for number in range(3 * MOST_COUNTED)])
    assert len(blame.suspects[0].orders) == MOST_COUNTED
    for line in range(3 * MOST_DEFECTS):
        blame = blame.met(bug("a", line), T0)
    assert len(blame.suspects) == MOST_DEFECTS


def test_an_attempt_is_reported_once_and_forgotten_when_its_time_is_over() -> None:
    blame, until = Blame(), T0 + MINUTE
    for number in range(MOST_REPORTED):
        blame, before = blame.report(f"a{number}", until, T0), blame
        assert blame != before
        assert blame.report(f"a{number}", until, T0) is blame
    assert blame.report("one more", until, T0) is blame, "no more than so many at a time"
    assert blame.report("one more", until + 1, until).reported == (("one more", until + 1),)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyError("Steps"), "it lacks Steps"),
        (
            TypeError("Progress.__init__() missing 2 required positional arguments: 'index' and 'done'"),
            "it lacks index, done",
        ),
        (TypeError("'NoneType' object is not iterable"), "a field holds what it cannot hold"),
        (ValueError("'x' is not a valid Mode"), "a field holds what it cannot hold"),
        (Rejected("items", "is missing"), "items: is missing"),
    ],
)
def test_what_is_wrong_with_a_record_is_said_without_a_name_of_the_code(error: Exception, words: str) -> None:
    """K5, K6."""
    assert wrong_with(error) == words
