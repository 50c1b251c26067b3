"""The queues for notices are listed in full, and never include one of the deployment itself."""

from __future__ import annotations

import pytest

from stepward.config import Config
from stepward.domain.errors import Misconfigured
from stepward_cdk.settings.settings import Settings

GIVEN = {"reply_accounts": "111122223333", "reply_regions": "eu-west-1", "reply_prefixes": "replies-"}


def settings(**given: object) -> Settings:
    """A deployment as the command line describes it."""
    return Settings.from_context({"stack": "orders", **GIVEN, **given}.get)


def test_nobody_is_notified_unless_a_deployment_lists_reply_queues() -> None:
    """S19."""
    assert Settings().replies.names("aws") == []
    assert Settings().replies.environment == {}


def test_every_account_region_and_prefix_go_together() -> None:
    """S19."""
    given = settings(reply_accounts="111122223333,444455556666", reply_prefixes="replies-, shop-").replies
    allowed = ["111122223333:replies-*", "111122223333:shop-*", "444455556666:replies-*", "444455556666:shop-*"]
    assert given.names("aws") == [f"arn:aws:sqs:eu-west-1:{it}" for it in allowed]


@pytest.mark.parametrize("missing", GIVEN)
def test_two_of_the_three_lists_are_refused(missing: str) -> None:
    """S19: a list that is left out would mean none to one reader, and all to another."""
    with pytest.raises(Misconfigured, match=missing):
        settings(**{missing: ""})


MANY, LONG = ",".join(f"replies-{n}-" for n in range(21)), ",".join(f"{n}{'r' * 78}" for n in range(5))
WRONG = {
    "reply_accounts": ["1111222233334", "*", "111122223333,"],
    "reply_regions": ["*", "eu-west"],
    "reply_prefixes": ["*", "replies-,,shop-", "a/b", "r" * 81, MANY, LONG],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_part_that_is_none_or_too_much_is_refused(name: str, value: str) -> None:
    """S19: a policy with a wildcard in the wrong place lets an order name any queue there is."""
    with pytest.raises(Misconfigured, match=name):
        settings(**{name: value})


@pytest.mark.parametrize("prefix", ["o", "orders", "orders-", "orders-Queues"])
def test_a_prefix_that_covers_the_stacks_own_queues_is_refused(prefix: str) -> None:
    """S19: an order could name the queue of the Scheduler, and speak to it in the engine's name."""
    with pytest.raises(Misconfigured, match="own queues"):
        settings(reply_prefixes=prefix)


def test_a_long_stack_name_that_cloudformation_cuts_still_covers_its_own_queues() -> None:
    """S19: only the part of the name that queues' names hold can be compared."""
    assert settings(stack="s" * 60).replies.own_prefix == "s" * 24
    with pytest.raises(Misconfigured, match="own queues"):
        settings(stack="s" * 60, reply_prefixes="s" * 30)


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:4566", "https://localhost:4566"])
def test_the_local_cloud_has_its_queues_on_this_machine(endpoint: str) -> None:
    """S19."""
    given = settings(platform="local", reply_endpoint=endpoint).replies.environment
    assert Config(given).reply_queues.endpoint == endpoint


ELSEWHERE = "http://10.0.0.1:4566 http://127.0.0.1.example.com:4566 http://127.0.0.1 http://127.0.0.1:4566/queues"
NO_ENDPOINT = "http://user@127.0.0.1:4566 http://[ 127.0.0.1:4566"


@pytest.mark.parametrize("endpoint", [*ELSEWHERE.split(), *NO_ENDPOINT.split()])
def test_any_other_endpoint_is_refused(endpoint: str) -> None:
    """S19."""
    with pytest.raises(Misconfigured, match="reply_endpoint"):
        settings(platform="local", reply_endpoint=endpoint)


def test_a_deployment_to_aws_posts_to_aws() -> None:
    """S19."""
    with pytest.raises(Misconfigured, match="reply_endpoint"):
        settings(platform="aws", reply_endpoint="http://127.0.0.1:4566")


def test_the_engine_reads_what_the_infrastructure_writes() -> None:
    """S19: one list for the check of an address, and for the policy behind it."""
    allowed = Config(settings(reply_prefixes="replies-,shop-").replies.environment).reply_queues
    assert (allowed.accounts, allowed.regions) == (frozenset({"111122223333"}), frozenset({"eu-west-1"}))
    assert (allowed.prefixes, allowed.own_prefix) == (("replies-", "shop-"), "orders-")
