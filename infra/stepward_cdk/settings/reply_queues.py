"""The submitters' queues to which the Scheduler may post notices."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from stepward.domain.errors import Misconfigured
from stepward_cdk.settings.checks import matches, own_address, region

MAX_COMBINATIONS = 20  # each is a line of the Scheduler's policy, whose size IAM limits
MAX_TEXT = 350  # characters of all three lists together, which share a function's 4 KB of environment

_ACCOUNT = re.compile(r"[0-9]{12}")
_PREFIX = re.compile(r"[A-Za-z0-9_-]{1,80}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyQueues:
    """Every combination of an account, a region and a prefix of queue names; none unless a deployment lists them.

    `own_prefix` begins the names of the deployment's own queues, which no submitter may name. `endpoint` is where the
    local cloud on this machine has its queues.
    """

    accounts: Sequence[str]
    regions: Sequence[str]
    prefixes: Sequence[str]
    own_prefix: str
    endpoint: str

    def check(self) -> None:
        """Refuse what is incomplete, too wide, or would let a submitter name a queue of the deployment itself."""
        lists = {"reply_accounts": self.accounts, "reply_regions": self.regions, "reply_prefixes": self.prefixes}
        missing = [name for name, values in lists.items() if not values]
        if missing and len(missing) < len(lists):
            raise Misconfigured(f"{', '.join(missing)}: empty; reply queues take {', '.join(lists)}, or none of them")
        self._check_parts()
        for prefix in self.prefixes:
            if self.own_prefix.startswith(prefix) or prefix.startswith(self.own_prefix):
                raise Misconfigured(f"reply_prefixes: {prefix!r} covers the stack's own queues, {self.own_prefix}*")
        if len(self._combinations) > MAX_COMBINATIONS or sum(map(len, self.environment.values())) > MAX_TEXT:
            raise Misconfigured(
                f"reply_accounts, reply_regions, reply_prefixes: more than {MAX_COMBINATIONS} combinations, or than "
                f"{MAX_TEXT} characters; let several submitters share a prefix"
            )

    def names(self, partition: str) -> Sequence[str]:
        """The ARN patterns of the queues to which the Scheduler may send."""
        sqs = f"arn:{partition}:sqs"
        return [f"{sqs}:{in_region}:{account}:{prefix}*" for account, in_region, prefix in self._combinations]

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that list them for the functions; none if there are no reply queues."""
        if not self.accounts:
            return {}
        variables = {
            "STEPWARD_OWN_PREFIX": self.own_prefix,
            "STEPWARD_REPLY_ACCOUNTS": ",".join(self.accounts),
            "STEPWARD_REPLY_REGIONS": ",".join(self.regions),
            "STEPWARD_REPLY_PREFIXES": ",".join(self.prefixes),
            "STEPWARD_REPLY_ENDPOINT": self.endpoint,
        }
        return {name: value for name, value in variables.items() if value}

    @property
    def _combinations(self) -> list[tuple[str, str, str]]:
        return list(product(self.accounts, self.regions, self.prefixes))

    def _check_parts(self) -> None:
        for account in self.accounts:
            matches("reply_accounts", account, _ACCOUNT, "an account's 12 digits")
        for name in self.regions:
            region("reply_regions", name)
        for prefix in self.prefixes:
            matches("reply_prefixes", prefix, _PREFIX, "the beginning of a queue's name: letters, digits, '-' and '_'")
        if self.endpoint:
            own_address("reply_endpoint", self.endpoint)
