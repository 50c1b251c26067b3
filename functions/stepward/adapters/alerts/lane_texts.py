"""What a person reads when the lane of an order waits: for them, for an event that is missing, or for its end."""

from __future__ import annotations

import shlex

from stepward.domain.convoy.lane import Alerted
from stepward.domain.messages import LaneWaits


def subject(alert: LaneWaits) -> str:
    """What the alert is about, in a line."""
    event, order = alert.event, alert.order_id
    match alert.trouble:
        case Alerted.GAP:
            return f"Stepward: event {event} is missing, order {order}"
        case Alerted.IDLE:
            return f"Stepward: no end in sight, order {order}"
        case _:
            return f"Stepward: event {event} stops the lane, order {order}"


def text(alert: LaneWaits, reason: str) -> str:
    """One lane that waits, and what to do about it."""
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
    """What to type about many lanes."""
    return (
        "Their later events are kept, in order, until you act. List the lanes, and look at one; it says what to type:\n"
        "  stepward convoy list\n"
        f"  stepward convoy show {shlex.quote(first.order_id)}\n"
    )


def _blocked(alert: LaneWaits, reason: str) -> str:
    return (
        f"Event {alert.event} of order {alert.order_id} could not be applied; the order's lane stands still.\n\n"
        f"Why: {reason}\n\n"
        "Later events of this order are kept behind it, in order. Other orders go on. Look at it:\n"
        f"{_look(alert)}"
        "Fix the cause, then try the event again:\n"
        f"{_retry(alert)}"
        "Or give a corrected event in its place, or go on without it:\n"
        f"{_instead(alert)}"
    )


def _missing(alert: LaneWaits, reason: str) -> str:
    return (
        f"Event {alert.event} of order {alert.order_id} is missing; later ones wait for it.\n\n"
        f"Why: {reason}\n\n"
        "Nothing is ever applied over a gap. Look at it:\n"
        f"{_look(alert)}"
        "Have its source send the event again: then the lane goes on by itself.\n"
        "If it will never come, give it, or go on without it:\n"
        f"{_instead(alert)}"
    )


def _idle(alert: LaneWaits, reason: str) -> str:
    return (
        f"Order {alert.order_id} has heard nothing for long, and has no end.\n\n"
        f"Why: {reason}\n\n"
        "Nothing is wrong with the events that came. Ask the source whether more were sent. Look at it:\n"
        f"{_look(alert)}"
    )


def _look(alert: LaneWaits) -> str:
    return f"  stepward convoy show {shlex.quote(alert.order_id)}\n"


def _retry(alert: LaneWaits) -> str:
    return f'  stepward convoy retry {shlex.quote(alert.order_id)} --why "..."\n'


def _instead(alert: LaneWaits) -> str:
    order, event = shlex.quote(alert.order_id), shlex.quote(alert.event)
    return (
        f'  stepward convoy replace {order} {event} FILE --why "..."\n'
        f'  stepward convoy skip {order} {event} --why "..."\n'
    )
