"""The settings of the deployments that are simulated."""

from stepward.domain.breaker import Limits
from stepward.domain.reply_address import Allowed
from stepward.domain.timing import Timing
from tests.factories import MINUTE, SECOND

TIMING = Timing(claim_within=40 * SECOND, skew_margin=5 * SECOND, outage_after=15 * MINUTE)
LEASE = 90 * SECOND
BREAKER = Limits(failures=3, open_for=10 * SECOND, longest=40 * SECOND)
REPLY_TO = "https://sqs.us-east-1.amazonaws.com/111122223333/replies-shop"
REPLY_QUEUES = Allowed(frozenset({"111122223333"}), frozenset({"us-east-1"}), ("replies-",), "stepward-")
