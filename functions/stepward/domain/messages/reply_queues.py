"""The allow list of reply queues: where the engine may send a submitter's notices.

An SQS client sends to whatever host an address names, so the check comes before any call. It accepts an address only
in one of the two canonical forms, letter for letter, so that no client can read it differently.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from stepward.domain.errors import Misconfigured, Rejected

FIELD = "replyTo"
LONGEST_NAME = 80

_REGION = r"(?P<region>[a-z]{2,4}(?:-[a-z]{1,12}){1,2}-[0-9]{1,2})"
_ACCOUNT = r"(?P<account>[0-9]{12})"
_NAME = r"(?P<name>[A-Za-z0-9_-]{1,80}(?:\.fifo)?)"
_URL = re.compile(rf"https://sqs\.{_REGION}\.(?P<suffix>[a-z.]{{1,20}})/{_ACCOUNT}/{_NAME}")
_ARN = re.compile(rf"arn:(?P<partition>[a-z-]{{1,20}}):sqs:{_REGION}:{_ACCOUNT}:{_NAME}")
_PATH = re.compile(rf"/{_ACCOUNT}/{_NAME}")
_ENDPOINT = re.compile(r"https?://[A-Za-z0-9.-]{1,253}:[0-9]{1,5}")

_PARTITIONS = (
    ("cn-", "aws-cn", "amazonaws.com.cn"),
    ("us-gov-", "aws-us-gov", "amazonaws.com"),
    ("eusc-", "aws-eusc", "amazonaws.eu"),
    ("", "aws", "amazonaws.com"),
)
"""The beginning of a region's name, its partition, and the suffix of its hosts."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The queues that a deployment may post to; an empty part allows none.

    `prefixes` are the beginnings of allowed queue names. `own_prefix` is that of the deployment's own queues, which
    are never allowed. `endpoint` (scheme, host and port) is the address of an emulator, whose queue URLs are
    then allowed beside those of AWS. Raises Misconfigured.
    """

    accounts: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    own_prefix: str = ""
    endpoint: str = ""

    def __post_init__(self) -> None:
        if self.endpoint and not _ENDPOINT.fullmatch(self.endpoint):
            raise Misconfigured(f"STEPWARD_REPLY_ENDPOINT={self.endpoint!r} is not a scheme, a host and a port")
        if "" in self.prefixes:
            raise Misconfigured("STEPWARD_REPLY_PREFIXES holds an empty prefix, which would allow every queue")
        for account in self.accounts:
            if not re.fullmatch(_ACCOUNT, account):
                raise Misconfigured(f"STEPWARD_REPLY_ACCOUNTS: {account!r} is not 12 digits")


@dataclass(frozen=True, slots=True)
class ReplyAddress:
    """A queue that the deployment may post to; `region` is "" at an emulator."""

    url: str
    fifo: bool
    region: str


def check(text: str, allowed: Allowed) -> ReplyAddress:
    """The queue that `text` names, by URL or ARN; raises Rejected if it is none, or none that is allowed."""
    if not (allowed.accounts and allowed.regions and allowed.prefixes):
        raise Rejected(FIELD, "is given, but this deployment allows no reply queues")
    region, account, name, url = _parsed(text, allowed.endpoint)
    if region and region not in allowed.regions:
        raise Rejected(FIELD, f"names a queue in {region}, which is not an allowed region")
    if account not in allowed.accounts:
        raise Rejected(FIELD, f"names a queue of account {account}, which is not allowed")
    if len(name) > LONGEST_NAME:
        raise Rejected(FIELD, f"names a queue of {len(name)} characters; SQS allows {LONGEST_NAME}")
    if allowed.own_prefix and name.startswith(allowed.own_prefix):
        raise Rejected(FIELD, "names a queue of this deployment itself")
    if not name.startswith(allowed.prefixes):
        raise Rejected(FIELD, f"names the queue {name!r}, which begins with none of the allowed prefixes")
    return ReplyAddress(url, name.endswith(".fifo"), region)


def _parsed(text: str, endpoint: str) -> tuple[str, str, str, str]:
    """Region, account, name and URL of the queue."""
    if endpoint and text.startswith(endpoint) and (found := _PATH.fullmatch(text, len(endpoint))):
        return "", found["account"], found["name"], text
    if (found := _URL.fullmatch(text)) and found["suffix"] == _partition(found["region"])[1]:
        return found["region"], found["account"], found["name"], text
    if (found := _ARN.fullmatch(text)) and found["partition"] == _partition(found["region"])[0]:
        return found["region"], found["account"], found["name"], _url_of(found, endpoint)
    raise Rejected(
        FIELD,
        "is neither the URL (https://sqs.<region>.amazonaws.com/<account>/<name>) nor the ARN "
        "(arn:aws:sqs:<region>:<account>:<name>) of an SQS queue",
    )


def _url_of(arn: re.Match[str], endpoint: str) -> str:
    host = endpoint or f"https://sqs.{arn['region']}.{_partition(arn['region'])[1]}"
    return f"{host}/{arn['account']}/{arn['name']}"


def _partition(region: str) -> tuple[str, str]:
    """Partition and suffix of a region."""
    return next((partition, suffix) for begin, partition, suffix in _PARTITIONS if region.startswith(begin))
