"""Alerts to operators: single ones up to the alert limit, then one summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import takewhile
from typing import Any, TypeVar

from stepward.app.optimistic import SharedValue
from stepward.domain.coordination.alert_limit import AlertRecord, admitted
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import HalfAlerted, Misconfigured, StepwardError, Transient
from stepward.domain.messages import Alert
from stepward.ports import Alerts, SharedRecords

TRIES = 3
Sent = TypeVar("Sent", bool, None)


@dataclass(frozen=True, slots=True)
class Throttled:
    """`ports.Alerts` under the alert limit; what it holds back stays due, for a summary.

    It notes which alerts have reached people only, so that they hear of each once, however often machines fail.
    """

    alerts: Alerts
    shared_records: SharedRecords
    now: Callable[[], int]

    def send(self, alert: Alert) -> bool:
        """Send it unless that exceeds the alert limit; see the port. One that only people get stays due."""
        try:
            return self.admit() and self.single(alert)
        except HalfAlerted:
            return False

    def single(self, alert: Alert) -> bool:
        """Send one that was admitted; raises as the port says."""
        return self._noting([alert], lambda: self.alerts.send(alert))

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Send all in one message; see the port."""
        self._noting(alerts, lambda: self.alerts.summarise(alerts))

    def to_machines(self, alerts: Sequence[Alert]) -> None:
        """Send all to machines; see the port."""
        self.alerts.to_machines(alerts)

    def heard(self, alerts: Sequence[Alert]) -> Sequence[Alert]:
        """Those that people have heard of already; none if that is unknown."""
        names: tuple[str, ...] = ()
        with suppress(StepwardError):
            names = self._record.read().heard
        return [alert for alert in alerts if _name(alert) in names]

    def forget(self, alerts: Sequence[Alert]) -> None:
        """Machines have these as well, and it is noted wherever they are due."""
        with suppress(StepwardError):  # the oldest are forgotten some day
            self._record.change(lambda record: record.forget([*map(_name, alerts)]), TRIES)

    def _noting(self, alerts: Sequence[Alert], send: Callable[[], Sent]) -> Sent:
        try:
            return send()
        except HalfAlerted:
            with suppress(StepwardError):  # a note that is lost repeats an alert
                self._record.change(lambda record: record.hear([*map(_name, alerts)]), TRIES)
            raise

    def admit(self) -> bool:
        """Count one more in the shared record; an alert that cannot be counted is held back."""

        def one_more(record: AlertRecord) -> AlertRecord:
            return replace(record, times=admitted(record.times, self.now()) or record.times)

        try:
            before, after = self._record.change(one_more, TRIES)
        except StepwardError:
            return False
        return after != before

    @property
    def _record(self) -> SharedValue[AlertRecord]:
        return SharedValue(self.shared_records, "alerts", _decoded, _encoded)


@dataclass(frozen=True, slots=True)
class Collected:
    """`ports.Alerts` that collects alerts for the end of a run."""

    due: list[Alert] = field(default_factory=list)

    def send(self, alert: Alert) -> bool:
        """Collect it."""
        self.due.append(alert)
        return False

    def summarise(self, alerts: Sequence[Alert]) -> None:
        """Collect them."""
        self.due.extend(alerts)

    def to_machines(self, alerts: Sequence[Alert]) -> None:
        """Collect them."""
        self.due.extend(alerts)


def alert_all(due: Sequence[Alert], alerts: Throttled, confirm: Callable[[Alert], None]) -> None:
    """Send each alert while the limit allows, the rest in one summary, and `confirm` each that is out.

    It goes on past one that fails, which stays due, and raises at the end: Misconfigured or Transient. Those that
    people have heard of go to machines only. A process that dies in between sends again what it did not confirm.
    """
    failures = _Failures()
    if heard := alerts.heard(due) if due else []:
        with failures.collected():
            alerts.to_machines(heard)
            _confirm_all(heard, confirm)
            alerts.forget(heard)
    known = set(heard)
    fresh = [alert for alert in due if alert not in known]
    admitted = list(takewhile(lambda _: alerts.admit(), fresh))
    for alert in admitted:
        with failures.collected():
            if alerts.single(alert):
                confirm(alert)
    if rest := fresh[len(admitted) :]:
        with failures.collected():
            alerts.summarise(rest)
            _confirm_all(rest, confirm)
    failures.check()


def _confirm_all(alerts: Sequence[Alert], confirm: Callable[[Alert], None]) -> None:
    for alert in alerts:
        confirm(alert)


@dataclass(slots=True)
class _Failures:
    """What failed, while the others went on."""

    errors: list[StepwardError] = field(default_factory=list)

    @contextmanager
    def collected(self) -> Iterator[None]:
        try:
            yield
        except (Transient, Misconfigured) as error:
            self.errors.append(error.__cause__ if isinstance(error.__cause__, Misconfigured) else error)

    def check(self) -> None:
        """Raise the first failure, one of a setting before others."""
        if self.errors:
            raise min(self.errors, key=lambda error: isinstance(error, Transient))


def _name(alert: Alert) -> str:
    """A short name: an order's key may be long, and the record holds many."""
    return sha256(alert.alert_id.encode()).hexdigest()[:16]


def _decoded(shared_record: SharedRecord | None) -> AlertRecord:
    body = shared_record.body if shared_record else {}
    return AlertRecord(tuple(_all(int, body.get("times"))), tuple(_all(str, body.get("heard"))))


def _all(kind: type[Any], found: object) -> Iterator[Any]:
    return (each for each in (found if isinstance(found, list | tuple) else ()) if isinstance(each, kind))


def _encoded(record: AlertRecord) -> dict[str, Any]:
    return {"times": list(record.times)} | ({"heard": list(record.heard)} if record.heard else {})
