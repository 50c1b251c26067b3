"""The settings that say where notices may go, and which agents have a priority queue."""

import pytest

from stepward.config import Config
from stepward.domain.errors import Misconfigured
from stepward.domain.reply_queues import Allowed

ENV = {
    "STEPWARD_REPLY_ACCOUNTS": "111122223333, 444455556666",
    "STEPWARD_REPLY_REGIONS": "us-east-1",
    "STEPWARD_REPLY_PREFIXES": "replies-,,shop-",
    "STEPWARD_OWN_PREFIX": "stepward-",
}


def test_accounts_regions_and_prefixes_are_lists_with_commas() -> None:
    """S19."""
    assert Config(ENV).reply_queues == Allowed(
        frozenset({"111122223333", "444455556666"}), frozenset({"us-east-1"}), ("replies-", "shop-"), "stepward-"
    )


@pytest.mark.parametrize("env", [{}, ENV | {"STEPWARD_REPLY_ACCOUNTS": " , "}])
def test_without_accounts_no_reply_queue_is_allowed(env: dict[str, str]) -> None:
    """S19."""
    assert Config(env).reply_queues == Allowed()


def test_a_deployment_that_does_not_know_its_own_queues_allows_none() -> None:
    """Its own queues could not be told from a submitter's."""
    with pytest.raises(Misconfigured, match="STEPWARD_OWN_PREFIX is not set"):
        _ = Config({**ENV, "STEPWARD_OWN_PREFIX": ""}).reply_queues


def test_no_agent_has_a_priority_queue_unless_the_deployment_says_so() -> None:
    """S21."""
    assert Config({}).agent_priority_queues == {}
    assert Config({"STEPWARD_AGENT_PRIORITY_QUEUES": '{"payments": "url"}'}).agent_priority_queues == {
        "payments": "url"
    }
