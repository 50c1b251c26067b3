"""The text of an alert about a lane that waits: for an operator, for a missing event, or for its end."""

from __future__ import annotations

import shlex

from stepward.domain.convoy.lane import Alerted
from stepward.domain.key import spoken, typed
from stepward.domain.messages import LaneWaits


def subject(alert: LaneWaits) -> str:
    """The subject, in one line."""
    event, order = alert.event, spoken(alert.order_id)
    match alert.trouble:
        case Alerted.GAP:
            return f"Stepward: event {event} is missing, order {order}"
        case Alerted.IDLE:
            return f"Stepward: no last event yet, order {order}"
        case _:
            return f"Stepward: event {event} stops the lane, order {order}"


def command(verb: str, key: str, workflow: str, *after: str) -> str:
    """A line with a command for the order, ready to be typed; `workflow` is the name of the default workflow."""
    return f"  stepward {verb} {shlex.join(typed(key, *after, default=workflow))}"


def text(alert: LaneWaits, reason: str, workflow: str = "") -> str:
    """The text about one lane, and what to do about it; `workflow` is the name of the default workflow."""
    match alert.trouble:
        case Alerted.GAP:
            return _missing(alert, reason, workflow)
        case Alerted.IDLE:
            return _idle(alert, reason, workflow)
        case _:
            return _blocked(alert, reason, workflow)


def headline(orders: str, count: int) -> str:
    """How many orders a summary is about."""
    return f"{orders} {'waits' if count == 1 else 'wait'} in {'its lane' if count == 1 else 'their lanes'}"


def advice(first: LaneWaits, workflow: str = "") -> str:
    """What to type when many lanes wait."""
    return (
        "Their later events wait, in order, until you act. List the lanes and look at one; it shows what to type:\n"
        "  stepward convoy list\n"
        f"{command('convoy show', first.order_id, workflow)}\n"
    )


def _blocked(alert: LaneWaits, reason: str, workflow: str) -> str:
    order = spoken(alert.order_id, workflow)
    return (
        f"Event {alert.event} of order {order} could not be applied; the order's lane has stopped.\n\n"
        f"Why: {reason}\n\n"
        "Later events of this order wait behind it, in order. Other orders go on. Look at it:\n"
        f"{_show(alert, workflow)}"
        "Fix the cause, then try the event again:\n"
        f"{_retry(alert, workflow)}"
        "Or replace it with a corrected event, or skip it:\n"
        f"{_replace_or_skip(alert, workflow)}"
    )


def _missing(alert: LaneWaits, reason: str, workflow: str) -> str:
    return (
        f"Event {alert.event} of order {spoken(alert.order_id, workflow)} is missing; later ones wait for it.\n\n"
        f"Why: {reason}\n\n"
        "No event behind a gap is ever applied. Look at it:\n"
        f"{_show(alert, workflow)}"
        "Have its source send the event again; the lane then goes on by itself.\n"
        "If it will never come, supply it yourself, or skip it:\n"
        f"{_replace_or_skip(alert, workflow)}"
    )


def _idle(alert: LaneWaits, reason: str, workflow: str) -> str:
    return (
        f"Order {spoken(alert.order_id, workflow)} has had no event for a long time, and no last event.\n\n"
        f"Why: {reason}\n\n"
        "Nothing is wrong with the events so far. Ask the source whether it sent more. Look at it:\n"
        f"{_show(alert, workflow)}"
    )


def _show(alert: LaneWaits, workflow: str) -> str:
    return f"{command('convoy show', alert.order_id, workflow)}\n"


def _retry(alert: LaneWaits, workflow: str) -> str:
    return f'{command("convoy retry", alert.order_id, workflow)} --why "..."\n'


def _replace_or_skip(alert: LaneWaits, workflow: str) -> str:
    return (
        f'{command("convoy replace", alert.order_id, workflow, alert.event, "FILE")} --why "..."\n'
        f'{command("convoy skip", alert.order_id, workflow, alert.event)} --why "..."\n'
    )
