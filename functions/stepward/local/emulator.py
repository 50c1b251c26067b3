"""Starts ministack with roles and policies in force, as they are on AWS; its own interpreter runs this as a script.

Two answers of ministack are brought closer to AWS for that. The stack refuses what does not come by TLS; on this
machine requests come by loopback, so each is marked as a proxy that ends TLS would mark it. And AWS has no permission
of its own for a batch: whoever may send a message may send ten.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import ministack.app as cloud
from ministack.core import iam_actions

Scope = dict[str, Any]
Channel = Callable[..., Awaitable[Any]]

serve: Callable[[Scope, Channel, Channel], Awaitable[None]] = cloud.app
action_of: Callable[..., str | None] = iam_actions.extract_iam_action


async def as_if_by_tls(scope: Scope, receive: Channel, send: Channel) -> None:
    """Pass a request on, marked as having come by TLS."""
    if scope["type"] == "http":
        scope = {**scope, "headers": [*scope["headers"], (b"x-forwarded-proto", b"https")]}
    await serve(scope, receive, send)


def permission(service: str, *request: object, **more: object) -> str | None:
    """The permission that a request needs; for a batch in SQS, that of its single messages."""
    action = action_of(service, *request, **more)
    return action.removesuffix("Batch") if action and service == "sqs" else action


cloud.app = as_if_by_tls
iam_actions.extract_iam_action = permission
cloud.main()
