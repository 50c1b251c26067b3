"""The text of an alert about an agent whose code or a setting is at fault, and about its end."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime

from stepward.domain.messages import AgentDefect


def subject(alert: AgentDefect) -> str:
    """The subject, in one line."""
    what = f"{alert.operation} works again" if alert.over else f"{alert.operation} fails with {alert.name}"
    return f"Stepward: agent {alert.agent}: {what}"


def text(alert: AgentDefect, reason: str) -> str:
    """The text about one defect, and what to do about it."""
    since = _time(alert.since)
    if alert.over:
        return f"Agent {alert.agent}: {reason}. It has worked since {since}.\n\nNothing is left to do about it.\n"
    fault = "A setting" if alert.is_setting else "The code, or a setting,"
    return (
        f"Agent {alert.agent} fails: {reason} since {since}; no call has succeeded since.\n\n"
        f"It rose at {alert.place or 'an unknown place'}. {fault} is at fault, so no order is: their failures are not "
        "counted, and their requests wait. The agent's log has the traceback, in the field `trace`.\n\n"
        "Mend it and deploy; the orders then go on by themselves. Look at the agents:\n"
        "  stepward agents\n"
        "Or keep the agent from its service meanwhile:\n"
        f'  stepward pause --agent {shlex.quote(alert.agent)} --why "..."\n'
    )


def headline(count: int) -> str:
    """How many defects a summary is about."""
    return f"{count} defect{'' if count == 1 else 's'} of agents"


ADVICE = "Their orders wait, and none is blamed. Mend the code or the setting, and deploy. Look:\n  stepward agents\n"


def _time(at: int) -> str:
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
