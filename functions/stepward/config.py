"""Every environment variable of the engine, once; a function loads only the rules that it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from stepward.domain.errors import Misconfigured

if TYPE_CHECKING:
    from stepward.domain.convoy.lane import LaneRules
    from stepward.domain.coordination.breaker import Limits
    from stepward.domain.deployment import Deployment
    from stepward.domain.messages.reply_queues import Allowed
    from stepward.domain.timing import Timing


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of a function, read from `env` when asked for; raises Misconfigured with the name of a wrong one."""

    env: Mapping[str, str]

    @property
    def region(self) -> str:
        """The region of the deployment; Lambda sets it."""
        return self._text("AWS_REGION")

    @property
    def deployment(self) -> Deployment:
        """The deployment as its alerts name it; Powertools puts the same name into log lines and metrics."""
        from stepward.domain.deployment import Deployment

        return Deployment(self.env.get("POWERTOOLS_SERVICE_NAME", ""), self.region, self.workflow)

    @property
    def full_watching(self) -> bool:
        """Whether what belongs to the ordinary course is measured as well, and each agent's service on its own."""
        return self._one_of("STEPWARD_WATCHING", ("lean", "full")) == "full"

    @property
    def dead_letter_queues(self) -> Mapping[str, str]:
        """URL of each dead-letter queue that the Supervisor checks, by the name of its queue; none if alarms do."""
        named = [each.split("=") for each in self._list("STEPWARD_DEAD_LETTERS")]
        return {name: self._beside(queue) for name, queue in named}

    @property
    def orders_table(self) -> str:
        """Name of the orders table."""
        return self._text("STEPWARD_ORDERS_TABLE")

    @property
    def tasks_table(self) -> str:
        """Name of the state store's table."""
        return self._text("STEPWARD_TASKS_TABLE")

    @property
    def rejects_table(self) -> str:
        """Name of the table of rejects."""
        return self._text("STEPWARD_REJECTS_TABLE")

    @property
    def rejects_bucket(self) -> str:
        """Name of the bucket of the rejects' large bodies; empty if they are in rows."""
        return self.env.get("STEPWARD_REJECTS_BUCKET", "")

    @property
    def shared_records_table(self) -> str:
        """Name of the table of shared records."""
        return self._text("STEPWARD_SHARED_RECORDS_TABLE")

    @property
    def scheduler_queue(self) -> str:
        """URL of the queue to the Scheduler."""
        return self._text("STEPWARD_SCHEDULER_QUEUE")

    @property
    def callback_secret(self) -> str:
        """ARN of the secret with the keys of callback tokens; empty if no step is answered later."""
        return self.env.get("STEPWARD_CALLBACK_SECRET", "")

    @property
    def responses_queue(self) -> str:
        """URL of the queue of the agents' replies."""
        return self._text("STEPWARD_RESPONSES_QUEUE")

    @property
    def agent_queues(self) -> Mapping[str, str]:
        """URL of each agent's request queue, by the agent's name."""
        return self._requests(self._text("STEPWARD_AGENTS"))

    @property
    def agent_priority_queues(self) -> Mapping[str, str]:
        """URL of the priority queue of each agent that has one."""
        return self._requests(self.env.get("STEPWARD_PRIORITY_AGENTS", ""), "-high")

    @property
    def reply_queues(self) -> Allowed:
        """The queues on which submitters may ask for notices; none unless the deployment names accounts."""
        from stepward.domain.messages.reply_queues import Allowed

        if not (accounts := self._list("STEPWARD_REPLY_ACCOUNTS")):
            return Allowed()
        return Allowed(
            accounts=frozenset(accounts),
            regions=frozenset(self._list("STEPWARD_REPLY_REGIONS")),
            prefixes=self._list("STEPWARD_REPLY_PREFIXES"),
            own_prefix=self._text("STEPWARD_OWN_PREFIX"),
            endpoint=self.env.get("STEPWARD_REPLY_ENDPOINT", ""),
        )

    @property
    def alerts_topic(self) -> str:
        """ARN of the topic for alerts to operators."""
        return self._text("STEPWARD_ALERTS_TOPIC")

    @property
    def event_bus(self) -> str:
        """Name of the event bus that brings the same alerts to programs."""
        return self.env.get("STEPWARD_EVENT_BUS", "") or "default"

    @property
    def agent(self) -> str:
        """The agent that this function serves."""
        return self._text("STEPWARD_AGENT")

    @property
    def requests_queue(self) -> str:
        """URL of the queue whose requests this function serves (agent functions only)."""
        return self._text("STEPWARD_REQUESTS_QUEUE")

    @property
    def workflow(self) -> str:
        """The name of the default workflow, for notices and alerts; empty if it is not told."""
        return self.env.get("STEPWARD_WORKFLOW", "")

    @property
    def lanes_table(self) -> str:
        """Name of the table of the orders' lanes."""
        return self._text("STEPWARD_LANES_TABLE")

    @property
    def lanes_queue(self) -> str:
        """URL of the queue to the lanes."""
        return self._text("STEPWARD_LANES_QUEUE")

    @property
    def ledgers_bucket(self) -> str:
        """Name of the bucket of the ledgers that are too large for a message."""
        return self._text("STEPWARD_LEDGERS_BUCKET")

    @property
    def ledger_customer(self) -> str:
        """The only customer whose ledgers this function splits; empty if it splits those of all."""
        return self.env.get("STEPWARD_LEDGER_CUSTOMER", "")

    @property
    def lane_rules(self) -> LaneRules:
        """What the deployment asks of its lanes; times in milliseconds."""
        from stepward.domain.convoy.lane import LaneRules

        default = LaneRules()
        return LaneRules(
            sequenced=self._one_of("STEPWARD_SEQUENCES", ("required", "optional")) == "required",
            gap_within=self._whole("STEPWARD_GAP_MS", default.gap_within),
            idle_after=self._whole("STEPWARD_IDLE_MS", default.idle_after),
            attempts=self._whole("STEPWARD_EVENT_ATTEMPTS", default.attempts),
        )

    @property
    def breaker(self) -> Limits:
        """When the breaker of an agent opens, and for how long, in milliseconds."""
        from stepward.domain.coordination.breaker import Limits

        default = Limits()
        return Limits(
            failures=self._whole("STEPWARD_BREAKER_FAILURES", default.failures),
            open_for=self._whole("STEPWARD_BREAKER_OPEN_MS", default.open_for),
            longest=self._whole("STEPWARD_BREAKER_LONGEST_MS", default.longest),
        )

    @property
    def keep_error_texts(self) -> bool:
        """Whether the messages of exceptions are kept and logged; they may hold personal data."""
        return self._one_of("STEPWARD_KEEP_ERROR_TEXTS", ("true", "false")) == "true"

    @property
    def shards(self) -> int:
        """Number of shards of the due index; the same for every function of a deployment."""
        return self._whole("STEPWARD_SHARDS", 4)

    @property
    def swept_shards(self) -> int:
        """Number of shards that the Supervisor sweeps: those of an earlier deployment, too, until they are empty."""
        return max(self.shards, self._whole("STEPWARD_DRAINING_SHARDS", 0))

    @property
    def most_shards(self) -> int:
        """How many shards any deployment may have: work of an earlier one may wait in them."""
        from stepward.domain.coordination.shards import MOST_SHARDS

        return MOST_SHARDS

    @property
    def lease_length(self) -> int:
        """How long a Supervisor holds a shard at most, in milliseconds: longer than a run, shorter than two periods."""
        from stepward.domain.coordination.lease import USUAL_LENGTH

        return self._whole("STEPWARD_LEASE_MS", USUAL_LENGTH)

    @property
    def keep_finished(self) -> int:
        """Seconds after its end when a task may be deleted (set in days); 0 never deletes it."""
        return self._whole("STEPWARD_FINISHED_DAYS", 0) * 86_400

    @property
    def customer_index(self) -> bool:
        """Whether a new order is listed under its customer, at a write unit more."""
        return self.env.get("STEPWARD_CUSTOMER_INDEX") == "true"

    @property
    def backlog(self) -> int:
        """How many requests an agent can take at once; with more in its queue, some may not have been tried."""
        return self._whole("STEPWARD_BACKLOG", 100)

    @property
    def complete_within(self) -> timedelta | None:
        """A limit that replaces every step's own (milliseconds; 0 leaves the workflow's)."""
        limit = self._whole("STEPWARD_COMPLETE_WITHIN_MS", 0)
        return timedelta(milliseconds=limit) if limit else None

    @property
    def timing(self) -> Timing:
        """The waits that the engine itself chooses, in milliseconds."""
        from stepward.domain.timing import Timing

        default = Timing()
        return Timing(
            claim_within=self._whole("STEPWARD_CLAIM_WITHIN_MS", default.claim_within),
            skew_margin=self._whole("STEPWARD_SKEW_MARGIN_MS", default.skew_margin),
            outage_after=self._whole("STEPWARD_OUTAGE_AFTER_MS", default.outage_after),
        )

    def _text(self, name: str) -> str:
        if not (value := self.env.get(name, "")):
            raise Misconfigured(f"{name} is not set; deploy the stack again, which sets it")
        return value

    def _one_of(self, name: str, choices: tuple[str, ...]) -> str:
        """One of the choices; the first is the default."""
        if (value := self.env.get(name, "") or choices[0]) not in choices:
            raise Misconfigured(f"{name}={value!r} is none of {', '.join(choices)}")
        return value

    def _list(self, name: str) -> tuple[str, ...]:
        return tuple(part for item in self.env.get(name, "").split(",") if (part := item.strip()))

    def _whole(self, name: str, default: int) -> int:
        value = self.env.get(name, "") or str(default)
        if not value.isascii() or not value.isdigit():
            raise Misconfigured(f"{name}={value!r} is not a whole number")
        return int(value)

    def _requests(self, agents: str, ending: str = "") -> Mapping[str, str]:
        """The queues of these agents, which are where the Scheduler's is; an environment has no room for addresses."""
        if not agents:
            return {}
        prefix = self._text("STEPWARD_AGENT_PREFIX")
        return {name: self._beside(f"{prefix}{name}{ending}") for name in agents.split(",")}

    def _beside(self, queue: str) -> str:
        return f"{self.scheduler_queue.rpartition('/')[0]}/{queue}"
