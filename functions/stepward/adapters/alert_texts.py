"""What a person reads when a step has failed: what, why, how often tried, and what to type next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from stepward.domain.messages import Alert

LONGEST_SUBJECT = 100
LONGEST_REASON = 2000
MOST_STEPS = 20
MOST_ORDERS = 20


def subject(alert: Alert) -> str:
    """One line of ASCII, at most 100 characters."""
    what = "undo" if alert.standing else "step"
    return _line(f"Stepward: {what} {alert.step} failed, order {alert.order_id}")


def text(alert: Alert) -> str:
    """One failed step."""
    order, step = shlex.quote(alert.order_id), shlex.quote(alert.step)
    reason = _printable(alert.reason)[:LONGEST_REASON]
    return (
        f"{_what_failed(alert)}\n\n"
        f"Why: {reason}\n\n"
        "The order waits until you act. Look at it:\n"
        f"  stepward show {order}\n"
        f"Fix the cause, then run the {'undo' if alert.standing else 'step'} again:\n"
        f'  stepward resubmit {order} {step} --why "..."\n'
    )


def summary_subject(alerts: Sequence[Alert]) -> str:
    """One line of ASCII, at most 100 characters."""
    return _line(f"Stepward: {_orders(alerts)} ended in Error")


def summary(alerts: Sequence[Alert]) -> str:
    """Many failed steps, counted by step, each with its most frequent reason."""
    steps = Counter(alert.step for alert in alerts).most_common()
    listed = "".join(f"  {line}\n" for line in _by_step(alerts, steps[:MOST_STEPS]))
    more = f"  and {len(steps) - MOST_STEPS} other steps\n" if len(steps) > MOST_STEPS else ""
    ids = list(dict.fromkeys(alert.order_id for alert in alerts))
    return (
        f"{_orders(alerts)} ended in Error:\n\n"
        f"{listed}{more}\n"
        f"{'The first of them' if len(ids) > MOST_ORDERS else 'Their ids'}: "
        f"{', '.join(shlex.quote(_printable(order_id)) for order_id in ids[:MOST_ORDERS])}\n\n"
        "The orders wait until you act. List them, and look at one:\n"
        "  stepward list --needs-attention\n"
        f"  stepward show {shlex.quote(ids[0])}\n"
        "Fix the cause, then run the step again, for each order:\n"
        f'  stepward resubmit {shlex.quote(ids[0])} {shlex.quote(alerts[0].step)} --why "..."\n'
    )


def _what_failed(alert: Alert) -> str:
    if not alert.standing:
        return f"Step {alert.step} of order {alert.order_id} ended in Error at attempt {alert.attempt}."
    return (
        f"The undo of order {alert.order_id} failed: {alert.step} ended in Error at attempt {alert.attempt}.\n\n"
        f"Effects still standing: {', '.join(alert.standing)}"
    )


def _by_step(alerts: Sequence[Alert], steps: Sequence[tuple[str, int]]) -> Iterator[str]:
    for step, times in steps:
        reasons = Counter(_printable(alert.reason) for alert in alerts if alert.step == step)
        ((reason, _),) = reasons.most_common(1)
        others = len(reasons) - 1
        more = f" (and {others:,} other reason{'' if others == 1 else 's'})" if others else ""
        yield f"{_printable(step)} {times:,} times: {reason[:LONGEST_REASON]}{more}"


def _orders(alerts: Sequence[Alert]) -> str:
    count = len({alert.order_id for alert in alerts})
    return f"{count:,} order{'' if count == 1 else 's'}"


def _line(line: str) -> str:
    return _printable(line).encode("ascii", "replace").decode()[:LONGEST_SUBJECT]


def _printable(value: str) -> str:
    """Reasons come from remote services: keep what SNS and a mail program can show."""
    return "".join(sign if sign.isprintable() else " " for sign in value)
