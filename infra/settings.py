"""Every constant of the infrastructure, and what a deployment may choose by CDK context."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from stepward.domain.errors import Misconfigured
from stepward.domain.timing import Timing
from stepward.domain.validation import LONGEST_ATTEMPT_MS, SHORTEST_ATTEMPT_MS

RUNTIME = "3.14"
ARCHITECTURE = "arm64"
WHEEL_PLATFORM = "aarch64-manylinux2014"
MEMORY_MB = 512  # CPU follows memory: below this, start-up dominates what a function costs
LONGEST_FUNCTION_S = 900
FUNCTION_TIMEOUT_S = 30
SUPERVISOR_TIMEOUT_S = 55  # ends before its next wake-up, whatever the backlog
AGENT_MARGIN_S = 5  # for a cold start, and for an answer that comes at the last moment
LEAST_CONCURRENCY = 2  # SQS takes no lower limit
VISIBILITY_TIMES_TIMEOUT = 6
MAX_RECEIVES = 5  # throttled deliveries count too: fewer, and good messages end among the dead
ORDER_RECEIVES = 100  # an order in its queue is known nowhere else: it waits out an outage of hours
QUEUE_RETENTION_DAYS = 4
DEAD_RETENTION_DAYS = 14
WAKE_UP_RETRIES = 2
LOG_RETENTION = "ONE_MONTH"
BOTO_SERVICES = ("dynamodb", "sns", "sqs")
MAX_AGENTS = 20  # their queue URLs share a function's 4 KB of environment

OLDEST_MESSAGE_S = 300
OVERDUE_AGE_MS = 300_000
ERRORS_IN_FIVE_MINUTES = 5  # a batch in which every record failed counts as one: a single bad order stays below


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a deployment may choose; each field is a CDK context key (`-c shards=8`). Raises Misconfigured."""

    stack: str = "stepward"
    environment: Literal["dev", "prod"] = "dev"
    alert_email: str = ""
    service_urls: Mapping[str, str] = field(default_factory=dict)
    complete_within_ms: int = 0
    """A limit that replaces every step's own; 0 leaves the workflow's."""
    claim_within_ms: int = Timing().claim_within
    skew_margin_ms: int = Timing().skew_margin
    outage_after_ms: int = Timing().outage_after
    supervise_minutes: int = 1
    shards: int = 4
    batch_size: int = 10
    engine_concurrency: int = 50
    """Runs at once of submission, and of the scheduler per queue; keeps a backlog from eating the account."""
    agent_batch_size: int = 1
    """Requests that one run of an agent serves side by side: more are cheaper, and die together."""
    platform: Literal["aws", "local"] = "aws"
    """Where the functions will run: on Lambda, or in the local cloud on this machine."""

    def __post_init__(self) -> None:
        _one_of("environment", self.environment, "dev", "prod")
        _one_of("platform", self.platform, "aws", "local")
        if self.complete_within_ms:
            _within("complete_within_ms", self.complete_within_ms, SHORTEST_ATTEMPT_MS, LONGEST_ATTEMPT_MS)
        _within("claim_within_ms", self.claim_within_ms, 1000, LONGEST_ATTEMPT_MS)
        _within("skew_margin_ms", self.skew_margin_ms, 0, 600_000)
        _within("outage_after_ms", self.outage_after_ms, 1000, LONGEST_ATTEMPT_MS)
        _within("supervise_minutes", self.supervise_minutes, 1, 60)
        _within("shards", self.shards, 1, 100)
        _within("batch_size", self.batch_size, 1, 10)
        _within("engine_concurrency", self.engine_concurrency, LEAST_CONCURRENCY, 1000)
        _within("agent_batch_size", self.agent_batch_size, 1, 10)
        if self.alert_email and "@" not in self.alert_email:
            raise Misconfigured(f"alert_email={self.alert_email!r} is not an e-mail address")
        for service, url in self.service_urls.items():
            _check_url(service, url)

    @property
    def lasting(self) -> bool:
        """Whether what holds data outlives the stack and is protected from deletion."""
        return self.environment == "prod"

    @property
    def complete_within(self) -> timedelta | None:
        """The limit that replaces every step's own, if there is one."""
        return timedelta(milliseconds=self.complete_within_ms) if self.complete_within_ms else None

    @classmethod
    def from_context(cls, look_up: Callable[[str], object]) -> Self:
        """The settings that CDK context gives; what it leaves out keeps its default."""
        given = {item.name: look_up(item.name) for item in fields(cls)}
        return cls(**{name: _parsed(name, value) for name, value in given.items() if value is not None})


def _parsed(name: str, value: object) -> Any:
    usual = getattr(Settings(), name)
    if isinstance(usual, str):
        return str(value)
    if isinstance(usual, int):
        return _whole(name, value)
    return _addresses(name, value)


def _whole(name: str, value: object) -> int:
    text = str(value)
    if not (text.isascii() and text.isdigit()):
        raise Misconfigured(f"{name}={value!r} is not a whole number")
    return int(text)


def _addresses(name: str, value: object) -> Mapping[str, str]:
    try:
        parsed = json.loads(value) if isinstance(value, str) else value
    except ValueError as error:
        raise Misconfigured(f"{name}={value!r} is not a JSON object of service names and addresses") from error
    if not isinstance(parsed, dict) or not all(isinstance(url, str) for url in parsed.values()):
        raise Misconfigured(f"{name}={value!r} is not an object of service names and addresses")
    return parsed


def _one_of(name: str, value: str, *allowed: str) -> None:
    if value not in allowed:
        raise Misconfigured(f"{name}={value!r} is none of {', '.join(allowed)}")


def _within(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise Misconfigured(f"{name}={value} is outside {least}-{most}")


def _check_url(service: str, url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        raise Misconfigured(f"service_urls: {service}={url!r} is not an address") from error
    if not host or parts.scheme not in {"http", "https"}:
        raise Misconfigured(f"service_urls: {service}={url!r} is not an http(s) address")
    if parts.scheme == "http" and not _is_loopback(host):
        raise Misconfigured(f"service_urls: {service}={url!r} must use https; plain http is for this machine only")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
