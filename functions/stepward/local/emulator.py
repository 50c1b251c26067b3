"""Starts ministack with IAM roles and policies in force; ministack's own interpreter runs this file as a script.

It brings two answers of ministack closer to AWS. The stack refuses requests without TLS, but on this machine requests
come over loopback: this script marks each of them as a proxy that terminates TLS would. And AWS has no permission of
its own for a batch: whoever may send one message may send ten.

If AWS_ENDPOINT_URL leads functions to a proxy, they sign requests for its address. The proxy passes them on to
`localhost`, and this script restores the host that they were signed for.
"""

import os
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import ministack.app as cloud
from ministack.core import iam_actions

Scope = dict[str, Any]
Channel = Callable[..., Awaitable[Any]]
Header = tuple[bytes, bytes]

SIGNED_FOR = urlsplit(os.environ.get("AWS_ENDPOINT_URL", "")).netloc.encode()
BY_PROXY = b"localhost:"

serve: Callable[[Scope, Channel, Channel], Awaitable[None]] = cloud.app
action_of: Callable[..., str | None] = iam_actions.extract_iam_action


async def as_if_by_tls(scope: Scope, receive: Channel, send: Channel) -> None:
    """Pass a request on, marked as having come by TLS."""
    if scope["type"] == "http":
        headers = [as_signed(header) for header in scope["headers"]]
        scope = {**scope, "headers": [*headers, (b"x-forwarded-proto", b"https")]}
    await serve(scope, receive, send)


def as_signed(header: Header) -> Header:
    """A header as it was when its request was signed."""
    name, value = header
    by_proxy = SIGNED_FOR and name == b"host" and value.startswith(BY_PROXY)
    return (name, SIGNED_FOR) if by_proxy else header


def permission(service: str, *request: object, **more: object) -> str | None:
    """The permission that a request needs; for a batch in SQS, that of a single message."""
    action = action_of(service, *request, **more)
    return action.removesuffix("Batch") if action and service == "sqs" else action


cloud.app = as_if_by_tls
iam_actions.extract_iam_action = permission
cloud.main()
