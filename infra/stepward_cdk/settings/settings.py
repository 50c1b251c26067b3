"""Every constant of the infrastructure, and what a deployment may choose."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import timedelta
from hashlib import sha256
from typing import Any, Literal, Self

from stepward.domain.convoy.lane import LaneRules
from stepward.domain.coordination.breaker import Limits
from stepward.domain.coordination.shards import MOST_SHARDS
from stepward.domain.errors import Misconfigured
from stepward.domain.timing import Timing
from stepward.domain.workflow.validation import LONGEST_ATTEMPT_MS, SHORTEST_ATTEMPT_MS
from stepward_cdk.settings.checks import day, matches, one_of, region, service_url, within
from stepward_cdk.settings.context import parsed
from stepward_cdk.settings.convoy import ConvoySettings
from stepward_cdk.settings.order_sources import by_service
from stepward_cdk.settings.reply_queues import ReplyQueues

RUNTIME = "3.13"  # the tests have run on it
ARCHITECTURE = "arm64"
WHEEL_PLATFORM = "aarch64-manylinux2014"
MEMORY_MB = 512  # CPU follows memory: below this, start-up dominates what a function costs
LONGEST_FUNCTION_S = 900
FUNCTION_TIMEOUT_S = 30
SUPERVISOR_TIMEOUT_S = 55  # ends before its next wake-up, whatever the backlog
AGENT_MARGIN_S = 5  # for a cold start, and for an answer that comes at the last moment
LEAST_CONCURRENCY = 2  # SQS takes no lower limit
VISIBILITY_TIMES_TIMEOUT = 6
REQUEST_RECEIVES = 1000  # a request that is retried later waits for its service, and ends by its own complete-by
MAX_RECEIVES = 100  # throttled deliveries count too: what is known nowhere else outlasts five hours without a function
CONVOY_RECEIVES = 1000  # the most that SQS takes: failures count in the lane, and a dead event is a gap
QUEUE_RETENTION_DAYS = 4
CONVOY_RETENTION_DAYS = 14  # a FIFO queue restarts a dead letter's time, so both may wait as long as SQS allows
DEAD_RETENTION_DAYS = 14
WAKE_UP_RETRIES = 2
LOG_RETENTION = "ONE_MONTH"
BOTO_SERVICES = ("dynamodb", "events", "s3", "secretsmanager", "sns", "sqs")
MAX_REQUEST_QUEUES = 40  # of agents, priority queues included: a stack takes 500 resources
CUSTOMER_QUEUES = 2  # as many of them make room for the queue and the function of one customer
PRIORITY_SHARE = 4  # one part in so many of an agent's concurrency is for orders of high priority

OLDEST_MESSAGE_S = 300
REJECT_DAYS = 60  # past the two weeks in which rejects are listed, and the five in which a table can be restored
OLDEST_LEDGER_S = 1800  # a customer's ledgers wait for each other, and a large one takes several runs
SILENT_MINUTES = 5
ERRORS_IN_FIVE_MINUTES = 5  # a batch in which every record failed counts as one: a single bad order stays below
STACK_IN_QUEUE_NAMES = 38  # characters: SQS takes 80 in all, and an agent's part may have 42
RETURNED_PERIODS = 6  # half an hour of 5 minutes each: a message that waits a while for something is no news
CONCURRENCY_PERCENT = 80
OWN_NAME_KEEPS = 24  # the least characters of the stack's name that CloudFormation leaves in a queue's name
LEASE_PERIODS = 2  # within which a Supervisor that died is replaced
_TABLE = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_BUS = re.compile(r"[A-Za-z0-9._-]{1,64}")
_STACK = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,59}")
NOBODY = "none"


def _says(text: str, usual: object) -> Any:
    """A field with this default; `text` describes it wherever settings are listed."""
    made: dict[str, Any] = {"default_factory": dict} if usual == {} else {"default": usual}
    return field(**made, metadata={"says": text})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a deployment may choose: each field is a key of `infra/environments/NAME.toml`. Raises Misconfigured."""

    stack: str = _says("the name of the stack, which names the deployment in all that leaves it", "stepward")
    environment: Literal["dev", "prod"] = _says("`prod` protects what holds data, and must alert somebody", "dev")
    region: str = _says("where the stack goes; empty leaves it to whoever deploys", "")
    alert_email: str = _says("who gets the alerts; `none` if you subscribe to the topic yourself", "")
    page_email: str = _says("who is woken by what cannot wait; empty: whoever gets the alerts", "")
    event_bus: str = _says("the event bus that brings alerts to programs; it must exist", "default")
    order_sources: tuple[str, ...] = _says("SNS topics and EventBridge rules, by ARN, that may send orders", ())
    shards: int = _says(
        "parts of the due index; a Supervisor sweeps four at a time, and checks eight orders in each side by side", 4
    )
    draining_shards: int = _says("a higher number of shards, which are swept as well until they are empty", 0)
    service_urls: Mapping[str, str] = _says("the address of each service that an agent calls", {})
    complete_within_ms: int = _says("a limit that replaces every step's own; 0 leaves the workflow's", 0)
    claim_within_ms: int = _says("how long a task may wait to be claimed", Timing().claim_within)
    skew_margin_ms: int = _says("how far the clocks of two functions may differ", Timing().skew_margin)
    outage_after_ms: int = _says("how late a sweep may come before it counts as an outage", Timing().outage_after)
    supervise_minutes: int = _says("how often the Supervisor is woken", 1)
    batch_size: int = _says("messages that one run of Submission or Scheduler takes", 10)
    engine_concurrency: int = _says("runs at once of Submission, of the convoy, and of the Scheduler per queue", 50)
    agent_batch_size: int = _says(
        "requests that one run of an agent serves side by side at most; 1 for operations that bear no threads", 5
    )
    platform: Literal["aws", "local"] = _says("where the functions run; `stepward local up` sets it", "aws")
    lease_ms: int = _says("how long a Supervisor holds a shard; one that dies is replaced after this time", 90_000)
    finished_days: int = _says("how long a finished task is stored; 0 never deletes it", 0)
    breaker_failures: int = _says("orders that fail in a row and open an agent's breaker", Limits().failures)
    breaker_open_ms: int = _says("for how long it opens at first", Limits().open_for)
    breaker_longest_ms: int = _says("for how long it opens at most", Limits().longest)
    reply_accounts: tuple[str, ...] = _says("accounts whose queues may get notices; all three lists, or none", ())
    reply_regions: tuple[str, ...] = _says("regions of these queues", ())
    reply_prefixes: tuple[str, ...] = _says("how the names of these queues begin", ())
    reply_endpoint: str = _says("where the local cloud has its queues", "")
    sequences: Literal["required", "optional"] = _says("whether every order event must carry a sequence", "required")
    gap_ms: int = _says("how long a gap may stay open until an operator is alerted", LaneRules().gap_within)
    idle_ms: int = _says(
        "how long an order without its last event may be silent; 0 alerts nobody", LaneRules().idle_after
    )
    event_attempts: int = _says("how often an event may fail before it blocks its order", LaneRules().attempts)
    lane_timeout_s: int = _says("of the convoy's function; if it dies, its orders wait six times as long", 20)
    ledger_timeout_s: int = _says("of the ledger processor", 60)
    ledger_concurrency: int = _says("ledgers split at once, each of another customer", 10)
    ledger_customers: tuple[str, ...] = _says("customers whose ledgers have a queue and a function of their own", ())
    draining_customers: tuple[str, ...] = _says(
        "customers whose own queue takes no new ledgers, and goes once empty", ()
    )
    ledger_days: int = _says("how long the objects of large ledgers are stored", 30)
    orders_table: str = _says("a table restored from a backup, to work on in place of the stack's own", "")
    tasks_table: str = _says("the same for tasks", "")
    rejects_table: str = _says("the same for rejects", "")
    lanes_table: str = _says("the same for lanes", "")
    customer_index_since: str = _says(
        "the day since which an index lists the orders of each customer, such as `2026-11-29`; empty: there is none", ""
    )
    replica_regions: tuple[str, ...] = _says("regions that hold copies of the tables", ())
    keep_error_texts: bool = _says(
        "whether messages of exceptions, which may hold personal data, are kept, told and logged, or their types alone",
        usual=True,
    )
    stand_ins: bool = _says(
        "whether every service that this deployment calls is a stand-in, so that `stepward verify` may run orders",
        usual=False,
    )
    watching: Literal["lean", "full"] = _says(
        "`full`: an alarm for each part, metrics of each agent, and a key for the alerts; `lean` costs less", "lean"
    )
    tracing: bool = _says("whether X-Ray traces the functions; each trace is billed", usual=False)

    def __post_init__(self) -> None:
        matches("stack", self.stack, _STACK, "the name of a stack: up to 60 letters, digits and '-', a letter first")
        one_of("environment", self.environment, "dev", "prod")
        one_of("platform", self.platform, "aws", "local")
        one_of("watching", self.watching, "lean", "full")
        if self.complete_within_ms:
            within("complete_within_ms", self.complete_within_ms, SHORTEST_ATTEMPT_MS, LONGEST_ATTEMPT_MS)
        within("claim_within_ms", self.claim_within_ms, 1000, LONGEST_ATTEMPT_MS)
        within("skew_margin_ms", self.skew_margin_ms, 0, 600_000)
        within("outage_after_ms", self.outage_after_ms, 1000, LONGEST_ATTEMPT_MS)
        within("supervise_minutes", self.supervise_minutes, 1, 60)
        within("shards", self.shards, 1, MOST_SHARDS)
        if self.draining_shards and not self.shards < self.draining_shards <= MOST_SHARDS:
            wanted = f"more than shards={self.shards} and at most {MOST_SHARDS}, or 0"
            raise Misconfigured(f"draining_shards={self.draining_shards} must be {wanted}")
        within("batch_size", self.batch_size, 1, 10)
        within("engine_concurrency", self.engine_concurrency, LEAST_CONCURRENCY, 1000)
        within("agent_batch_size", self.agent_batch_size, 1, 10)
        within("lease_ms", self.lease_ms, 1000, LEASE_PERIODS * self.supervise_minutes * 60_000)
        within("finished_days", self.finished_days, 0, 3650)
        matches("event_bus", self.event_bus, _BUS, "the name of an event bus: 1 to 64 of A-Z a-z 0-9 . _ -")
        within("breaker_failures", self.breaker_failures, 1, 1000)
        within("breaker_open_ms", self.breaker_open_ms, 1000, self.breaker_longest_ms)
        within("breaker_longest_ms", self.breaker_longest_ms, 1000, LONGEST_ATTEMPT_MS)
        for name, table in self.restored.items():
            matches(f"{name}_table", table, _TABLE, "the name of a table: 3 to 255 of A-Z a-z 0-9 . _ -")
        if self.customer_index_since:
            day("customer_index_since", self.customer_index_since)
        self.replies.check()
        self.convoy.check()
        if self.reply_endpoint and self.platform != "local":
            raise Misconfigured(f"reply_endpoint={self.reply_endpoint!r} is for platform=local only")
        self._check_replicas()
        self._check_alerts()
        by_service(self.order_sources)
        for service, url in self.service_urls.items():
            service_url(service, url)

    @property
    def plain(self) -> dict[str, object]:
        """The settings as JSON has them."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @property
    def lasting(self) -> bool:
        """Whether resources with data outlive the stack and are protected from deletion."""
        return self.environment == "prod"

    @property
    def full_watching(self) -> bool:
        """Whether each part has alarms of its own."""
        return self.watching == "full"

    def queue_name(self, part: str) -> str:
        """A name for a queue whose address is derived from it; a long stack name is cut, and stays its own."""
        if len(stack := self.stack) > STACK_IN_QUEUE_NAMES:
            stack = f"{stack[: STACK_IN_QUEUE_NAMES - 9]}-{sha256(stack.encode()).hexdigest()[:8]}"
        return f"{stack}-{part}"

    @property
    def replies(self) -> ReplyQueues:
        """The queues to which the Scheduler may post."""
        return ReplyQueues(
            accounts=self.reply_accounts,
            regions=self.reply_regions,
            prefixes=self.reply_prefixes,
            own_prefix=f"{self.stack}-"[:OWN_NAME_KEEPS],
            endpoint=self.reply_endpoint,
        )

    @property
    def subscribers(self) -> tuple[str, str]:
        """Who is told and who is woken, by mail; empty: nobody."""
        told, woken = self.alert_email, self.page_email or self.alert_email
        return "" if told == NOBODY else told, "" if woken == NOBODY else woken

    @property
    def restored(self) -> Mapping[str, str]:
        """The tables that take the place of the stack's own."""
        named = {
            "orders": self.orders_table,
            "tasks": self.tasks_table,
            "rejects": self.rejects_table,
            "lanes": self.lanes_table,
        }
        return {name: table for name, table in named.items() if table}

    @property
    def convoy(self) -> ConvoySettings:
        """The settings of the ledger processors and the lanes."""
        return ConvoySettings(
            sequences=self.sequences,
            gap_ms=self.gap_ms,
            idle_ms=self.idle_ms,
            attempts=self.event_attempts,
            lane_timeout_s=self.lane_timeout_s,
            ledger_timeout_s=self.ledger_timeout_s,
            ledger_concurrency=self.ledger_concurrency,
            ledger_days=self.ledger_days,
            customers=self.ledger_customers,
            draining=self.draining_customers,
        )

    @property
    def silent_minutes(self) -> int:
        """How long nothing may be swept before an alarm is raised."""
        return max(SILENT_MINUTES, 2 * self.supervise_minutes)

    @property
    def complete_within(self) -> timedelta | None:
        """The limit that replaces every step's own, if there is one."""
        return timedelta(milliseconds=self.complete_within_ms) if self.complete_within_ms else None

    @classmethod
    def from_context(cls, look_up: Callable[[str], object], usual: Self | None = None) -> Self:
        """The settings in CDK context; what it leaves out is as `usual`, or has its default."""
        usual = usual or cls()
        given = {item.name: look_up(item.name) for item in fields(cls)}
        chosen = {name: value for name, value in given.items() if value is not None}
        return replace(usual, **{name: parsed(name, value, getattr(usual, name)) for name, value in chosen.items()})

    def _check_alerts(self) -> None:
        for name, mail in (("alert_email", self.alert_email), ("page_email", self.page_email)):
            if mail not in {"", NOBODY} and "@" not in mail:
                raise Misconfigured(f"{name}={mail!r} is not an e-mail address")
        if self.lasting and not self.alert_email:
            raise Misconfigured(
                "alert_email is empty, so nobody would hear of an order in Error; write an e-mail address, "
                f"or {NOBODY!r} if you subscribe to the stack's topics yourself (see docs/watching.md of Stepward)"
            )

    def _check_replicas(self) -> None:
        if self.region:
            region("region", self.region)
        for other in self.replica_regions:
            region("replica_regions", other)
        if self.replica_regions and not self.region:
            raise Misconfigured("replica_regions needs the stack's own region; write it as region")
        if self.region in self.replica_regions:
            raise Misconfigured(f"replica_regions: {self.region!r} is the stack's own region, which needs no replica")
