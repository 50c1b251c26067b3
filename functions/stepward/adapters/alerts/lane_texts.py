"""The text of an alert about a lane that waits: for an operator, for a missing event, or for its end."""

from __future__ import annotations

import shlex

from stepward.domain.convoy.lane import Alerted
from stepward.domain.messages import LaneWaits


def subject(alert: LaneWaits) -> str:
    """The subject, in one line."""
    event, order = alert.event, alert.order_id
    match alert.trouble:
        case Alerted.GAP:
            return f"Stepward: event {event} is missing, order {order}"
        case Alerted.IDLE:
            return f"Stepward: no last event yet, order {order}"
        case _:
            return f"Stepward: event {event} stops the lane, order {order}"


def text(alert: LaneWaits, reason: str) -> str:
    """The text about one lane, and what to do about it."""
    match alert.trouble:
        case Alerted.GAP:
            return _missing(alert, reason)
        case Alerted.IDLE:
            return _idle(alert, reason)
        case _:
            return _blocked(alert, reason)


def headline(orders: str, count: int) -> str:
    """How many orders a summary is about."""
    return f"{orders} {'waits' if count == 1 else 'wait'} in {'its lane' if count == 1 else 'their lanes'}"


def advice(first: LaneWaits) -> str:
    """What to type when many lanes wait."""
    return (
        "Their later events wait, in order, until you act. List the lanes and look at one; it shows what to type:\n"
        "  stepward convoy list\n"
        f"  stepward convoy show {shlex.quote(first.order_id)}\n"
    )


def _blocked(alert: LaneWaits, reason: str) -> str:
    return (
        f"Event {alert.event} of order {alert.order_id} could not be applied; the order's lane has stopped.\n\n"
        f"Why: {reason}\n\n"
        "Later events of this order wait behind it, in order. Other orders go on. Look at it:\n"
        f"{_show(alert)}"
        "Fix the cause, then try the event again:\n"
        f"{_retry(alert)}"
        "Or replace it with a corrected event, or skip it:\n"
        f"{_replace_or_skip(alert)}"
    )


def _missing(alert: LaneWaits, reason: str) -> str:
    return (
        f"Event {alert.event} of order {alert.order_id} is missing; later ones wait for it.\n\n"
        f"Why: {reason}\n\n"
        "No event behind a gap is ever applied. Look at it:\n"
        f"{_show(alert)}"
        "Have its source send the event again; the lane then goes on by itself.\n"
        "If it will never come, supply it yourself, or skip it:\n"
        f"{_replace_or_skip(alert)}"
    )


def _idle(alert: LaneWaits, reason: str) -> str:
    return (
        f"Order {alert.order_id} has had no event for a long time, and no last event.\n\n"
        f"Why: {reason}\n\n"
        "Nothing is wrong with the events so far. Ask the source whether it sent more. Look at it:\n"
        f"{_show(alert)}"
    )


def _show(alert: LaneWaits) -> str:
    return f"  stepward convoy show {shlex.quote(alert.order_id)}\n"


def _retry(alert: LaneWaits) -> str:
    return f'  stepward convoy retry {shlex.quote(alert.order_id)} --why "..."\n'


def _replace_or_skip(alert: LaneWaits) -> str:
    order, event = shlex.quote(alert.order_id), shlex.quote(alert.event)
    return (
        f'  stepward convoy replace {order} {event} FILE --why "..."\n'
        f'  stepward convoy skip {order} {event} --why "..."\n'
    )
