"""Log lines and metrics by Powertools: one line per state change, the same keys everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit, SchemaValidationError

from stepward.domain.attention import attention, attention_of
from stepward.domain.errors import StepwardError
from stepward.domain.health import Called, Health, Swept
from stepward.domain.history import ROUTINE, WARNING, HistoryEntry, HistoryKind, TracedEntry

AnyMetrics = Metrics | EphemeralMetrics

_STATES = frozenset({"InFlight", "BreakerState"})


def _logger() -> Logger:
    """A logger that names the deployment by its stack, and leaves out the caller, because each byte is billed.

    Its time format is one that Lambda expects in JSON; to any other Lambda adds a second timestamp. CloudWatch knows
    the milliseconds of each line itself.
    """
    logger = Logger(
        location=None,
        datefmt="%Y-%m-%dT%H:%M:%SZ",
        utc=True,
        json_serializer=_line,
        json_deserializer=_as_it_is,
    )
    logger.remove_keys(["service"])
    logger.append_keys(stack=logger.service)
    return logger


def _line(log: Mapping[str, Any]) -> str:
    """The line of a log entry; without a level Lambda takes it for INFO, which most are."""
    told = {key: value for key, value in log.items() if (key, value) != ("level", "INFO")}
    return _ENCODER.encode(told)


def _as_it_is(message: Any) -> Any:
    """The message of a log line: a name of ours, in which Powertools would look for JSON."""
    return message


_ENCODER = json.JSONEncoder(separators=(",", ":"), default=str)


@dataclass(frozen=True, slots=True)
class PowertoolsTelemetry:
    """Writes each history entry as a log line and counts it; an order id is a log key, never a metric's dimension.

    A metric is billed by the hour in which it is written. Without `full`, what belongs to the ordinary course is
    logged only. The metrics of a single agent are separate, in `services`, with the agent as a second dimension; only
    `full` telemetry has them.
    """

    logger: Logger = field(default_factory=_logger)
    metrics: Metrics = field(default_factory=Metrics)
    services: EphemeralMetrics = field(default_factory=EphemeralMetrics)
    lock: Lock = field(default_factory=Lock)
    """Requests are served in threads, and Powertools locks nothing."""
    full: bool = False

    def record(self, order_id: str, entry: HistoryEntry) -> None:
        """Log and count one history entry; see the port."""
        before, after = entry.kind.change or (None, None)
        keys = {
            "task": order_id,
            "step": entry.step,
            "attempt": entry.attempt,
            "from": before,
            "to": after,
            "by": entry.by,
            "reason": entry.note,
            "ms": entry.value,
            "trace": entry.trace if isinstance(entry, TracedEntry) else "",
        }
        known = {key: value for key, value in keys.items() if value}
        log = self.logger.warning if WARNING in entry.kind.marks else self.logger.info
        log(entry.kind.value, extra=known)
        with self.lock:
            if entry.kind.metric and (self.full or ROUTINE not in entry.kind.marks):
                self._measure(entry.kind.metric, MetricUnit.Count, 1)
            if entry.kind.timer:
                self._measure(entry.kind.timer, MetricUnit.Milliseconds, entry.value)
            self._count(attention(entry))

    def swept(self, figures: Swept) -> None:
        """Log and measure a run of the Supervisor; see the port."""
        self._measure("Swept", MetricUnit.Count, figures.swept)
        if figures.overdue:
            self._measure("Overdue", MetricUnit.Count, figures.overdue)
            self._measure("OverdueAge", MetricUnit.Milliseconds, figures.oldest)
        self._count(attention_of(figures))
        if figures.listed:
            found = {"listed": figures.listed, "overdue": figures.overdue, "ms": figures.oldest}
            shards = {"swept": figures.swept, "skipped": figures.skipped, "complete": figures.complete}
            self.logger.info("Swept", extra=found | shards)

    def health(self, health: Health) -> None:
        """Measure how an agent's service is doing; see the port."""
        if not self.full:
            return
        measured = [
            ("InFlight", MetricUnit.Count, health.in_flight),
            ("BreakerState", MetricUnit.NoUnit, health.breaker),
        ]
        if isinstance(health, Called):
            measured += [
                ("CallSucceeded", MetricUnit.Count, int(health.succeeded)),
                ("CallFailed", MetricUnit.Count, int(not health.succeeded)),
                ("CallTime", MetricUnit.Milliseconds, health.took),
            ]
        with self.lock:
            for name, unit, value in measured:
                if "agent" not in self.services.dimension_set:
                    self.services.add_dimension("agent", health.agent)
                self._measure(name, unit, value, self.services)

    def returned(self, message_id: str, error: BaseException) -> None:
        """Log why a message goes back to its queue."""
        reason = str(error) if isinstance(error, StepwardError) else type(error).__name__
        self.logger.warning("Returned", extra={"message_id": message_id, "reason": reason})

    def came_back(self, messages: Mapping[str, int]) -> None:
        """Say at once which messages keep coming back, with the receives of each: they may end the process again."""
        if messages:
            note = ", ".join(f"{message} was received {receives} times" for message, receives in messages.items())
            self.record("", HistoryEntry(0, HistoryKind.CAME_BACK, note=note))
            self.flush()

    def flush(self) -> None:
        """Write the metrics out."""
        for metrics in (self.metrics, self.services):
            if metrics.metric_set:
                with self._harmless(metrics):
                    _summed(metrics)
                    metrics.flush_metrics()

    def _count(self, amounts: Mapping[str, int]) -> None:
        for name, amount in amounts.items():
            self._measure(name, MetricUnit.Count, amount)

    def _measure(self, name: str, unit: MetricUnit, value: int, metrics: AnyMetrics | None = None) -> None:
        # Powertools writes by itself after every hundred values, so this can fail like a flush.
        metrics = metrics or self.metrics
        with self._harmless(metrics):
            metrics.add_metric(name, unit, value)

    @contextmanager
    def _harmless(self, metrics: AnyMetrics) -> Iterator[None]:
        """Log a fault of the metrics and drop them: it must not undo the work that they measure."""
        try:
            yield
        except (SchemaValidationError, ValueError, OSError):
            metrics.clear_metrics()
            self.logger.exception("metrics lost")


def _summed(metrics: AnyMetrics) -> None:
    """Replace counts by their sum, and states by their highest value; only times need every value."""
    for name, metric in metrics.metric_set.items():
        if metric["Unit"] != MetricUnit.Milliseconds.value:
            metric["Value"] = [(max if name in _STATES else sum)(metric["Value"])]
