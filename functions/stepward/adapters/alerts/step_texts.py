"""The text of an alert: what failed or waits and why, how often it was tried, and what to do next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stepward.adapters.alerts import defect_texts, lane_texts
from stepward.adapters.alerts.lane_texts import command
from stepward.domain.deployment import LONGEST_SUBJECT
from stepward.domain.key import spoken
from stepward.domain.messages import AgentDefect, Alert, LaneWaits, StepFailed, StepWaits

LONGEST_REASON = 2000
MOST_STEPS = 20
MOST_ORDERS = 20
_PATIENT = "{} on without a command once that is deployed; no attempt is counted until then.\n"


def subject(alert: Alert) -> str:
    """One line of ASCII, fewer than 100 characters."""
    if isinstance(alert, LaneWaits):
        return _line(lane_texts.subject(alert))
    if isinstance(alert, StepWaits):
        what = "its signal" if alert.signal else "a deployment"
        return _line(f"Stepward: step {alert.step} waits for {what}, order {spoken(alert.order_id)}")
    if isinstance(alert, AgentDefect):
        return _line(defect_texts.subject(alert))
    what = "undo" if alert.remaining_effects else "step"
    return _line(f"Stepward: {what} {alert.step} failed, order {spoken(alert.order_id)}")


def text(alert: Alert, workflow: str = "") -> str:
    """The text about one failed step, one that waits, one lane that waits, or one defect.

    `workflow` is the name of the default workflow.
    """
    reason = _printable(alert.reason)[:LONGEST_REASON]
    if isinstance(alert, LaneWaits):
        return lane_texts.text(alert, reason, workflow)
    if isinstance(alert, AgentDefect):
        return defect_texts.text(alert, reason)
    if isinstance(alert, StepWaits) and alert.signal:
        what = f"Step {alert.step} of order {spoken(alert.order_id, workflow)} waits for its signal."
        show = command("show", alert.order_id, workflow)
        return f"{what}\n\nWhy: {reason}\n\nLook at it:\n{show}\n{_answer(alert, workflow)}"
    if isinstance(alert, StepWaits):
        what = f"Step {alert.step} of order {spoken(alert.order_id, workflow)} waits for a deployment."
        show = command("show", alert.order_id, workflow)
        return f"{what}\n\nWhy: {reason}\n\n{_PATIENT.format('It goes')}Look at it:\n{show}\n"
    return (
        f"{_what_failed(alert, workflow)}\n\n"
        f"Why: {reason}\n\n"
        "The order waits until you act. Look at it:\n"
        f"{command('show', alert.order_id, workflow)}\n"
        f"Fix the cause, then run the {'undo' if alert.remaining_effects else 'step'} again:\n"
        f'{command("resubmit", alert.order_id, workflow, alert.step)} --why "..."\n'
    )


def summary_subject(alerts: Sequence[Alert]) -> str:
    """One line of ASCII, fewer than 100 characters."""
    return _line(f"Stepward: {', '.join(part.headline for part in _parts(alerts))}")


def summary(alerts: Sequence[Alert], workflow: str = "") -> str:
    """Many steps that failed or wait, and waiting lanes, counted by step or trouble, with the most frequent reasons."""
    return "\n".join(_summary(part) for part in _parts(alerts, workflow))


@dataclass(frozen=True, slots=True)
class _Part:
    """What a summary says about one type of alert; `reasons` pairs a step or a trouble with its reason."""

    headline: str
    order_ids: Sequence[str]
    reasons: Sequence[tuple[str, str]]
    advice: str


def _parts(alerts: Sequence[Alert], workflow: str = "") -> Iterator[_Part]:
    """The steps, the lanes, then the defects: each asks for other commands."""
    if steps := [alert for alert in alerts if isinstance(alert, StepFailed)]:
        ids = list(dict.fromkeys(alert.order_id for alert in steps))
        reasons = [(alert.step, alert.reason) for alert in steps]
        yield _Part(f"{_orders(ids)} ended in Error", ids, reasons, _advice(steps[0], workflow))
    if signals := [alert for alert in alerts if isinstance(alert, StepWaits) and alert.signal]:
        ids = list(dict.fromkeys(alert.order_id for alert in signals))
        reasons = [(alert.step, alert.reason) for alert in signals]
        advice = f"List them:\n  stepward list --needs-attention\n{_answer(signals[0], workflow)}"
        yield _Part(f"{_orders(ids)} {'waits' if len(ids) == 1 else 'wait'} for a signal", ids, reasons, advice)
    if waits := [alert for alert in alerts if isinstance(alert, StepWaits) and not alert.signal]:
        ids = list(dict.fromkeys(alert.order_id for alert in waits))
        reasons = [(alert.step, alert.reason) for alert in waits]
        advice = f"{_PATIENT.format('They go')}List them:\n  stepward list --needs-attention\n"
        yield _Part(f"{_orders(ids)} {'waits' if len(ids) == 1 else 'wait'} for a deployment", ids, reasons, advice)
    if lanes := [alert for alert in alerts if isinstance(alert, LaneWaits)]:
        ids = list(dict.fromkeys(alert.order_id for alert in lanes))
        reasons = [(alert.trouble.value, alert.reason) for alert in lanes]
        yield _Part(lane_texts.headline(_orders(ids), len(ids)), ids, reasons, lane_texts.advice(lanes[0], workflow))
    if defects := [alert for alert in alerts if isinstance(alert, AgentDefect)]:
        reasons = [(f"agent {alert.agent}", alert.reason) for alert in defects]
        yield _Part(defect_texts.headline(len(defects)), (), reasons, defect_texts.ADVICE)


def _answer(alert: StepWaits, workflow: str) -> str:
    words = command("signal", alert.order_id, workflow, alert.step)
    return f"Answer, or refuse:\n{words} --data '{{...}}'\n{words} --refuse \"...\"\n"


def _orders(ids: Sequence[str]) -> str:
    return f"{len(ids):,} order{'' if len(ids) == 1 else 's'}"


def _summary(part: _Part) -> str:
    kinds = Counter(kind for kind, _ in part.reasons).most_common()
    listed = "".join(f"  {line}\n" for line in _by_kind(part.reasons, kinds[:MOST_STEPS]))
    more = f"  and {len(kinds) - MOST_STEPS} other steps\n" if len(kinds) > MOST_STEPS else ""
    return f"{part.headline}:\n\n{listed}{more}\n{_ids(part.order_ids)}{part.advice}"


def _ids(ids: Sequence[str]) -> str:
    """The first orders of a part; a defect is about none."""
    shown = ", ".join(shlex.quote(_printable(order_id)) for order_id in ids[:MOST_ORDERS])
    return f"{'The first of them' if len(ids) > MOST_ORDERS else 'Their ids'}: {shown}\n\n" if ids else ""


def _advice(first: StepFailed, workflow: str) -> str:
    return (
        "The orders wait until you act. List them, and look at one:\n"
        "  stepward list --needs-attention\n"
        f"{command('show', first.order_id, workflow)}\n"
        "Fix the cause, then run the step again, for each order:\n"
        f'{command("resubmit", first.order_id, workflow, first.step)} --why "..."\n'
    )


def _what_failed(alert: StepFailed, workflow: str) -> str:
    order = spoken(alert.order_id, workflow)
    if not alert.remaining_effects:
        when = f"at attempt {alert.attempt}" if alert.attempt else "before it began"
        return f"Step {alert.step} of order {order} ended in Error {when}."
    return (
        f"The undo of order {order} failed: {alert.step} ended in Error at attempt {alert.attempt}.\n\n"
        f"Remaining effects: {', '.join(alert.remaining_effects)}"
    )


def _by_kind(all_reasons: Sequence[tuple[str, str]], kinds: Sequence[tuple[str, int]]) -> Iterator[str]:
    for kind, times in kinds:
        reasons = Counter(_printable(reason) for its_kind, reason in all_reasons if its_kind == kind)
        ((reason, _),) = reasons.most_common(1)
        others = len(reasons) - 1
        more = f" (and {others:,} other reason{'' if others == 1 else 's'})" if others else ""
        yield f"{_printable(kind)} {times:,} times: {reason[:LONGEST_REASON]}{more}"


def _line(line: str) -> str:
    return _printable(line).encode("ascii", "replace").decode()[:LONGEST_SUBJECT]


def _printable(value: str) -> str:
    """Reasons come from remote services: keep what SNS and a mail program can show."""
    return "".join(sign if sign.isprintable() else " " for sign in value)
