"""Whether the services that a deployed stack calls are stand-ins, so that no canary can reach a real one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

_THIS_MACHINE = {"127.0.0.1", "::1", "localhost"}


def why_not(settings: Mapping[str, Any], agents: Iterable[Mapping[str, str]]) -> str:
    """Why no canary may be sent, or "".

    `settings` are those of the deployed template, `agents` the environments of the deployed agents. On an account only
    who deploys knows what is behind an address, and says so by `stand_ins`; on this machine all addresses show it.
    """
    called = [json.loads(each.get("STEPWARD_SERVICE_URLS") or "{}") for each in agents]
    if not called:
        return "it has no agent whose services could be looked at"
    if any(addresses != settings.get("service_urls") for addresses in called):
        return "an agent calls other services than the stack was deployed with; deploy it again"
    if settings.get("stand_ins") is True:
        return ""
    hosts = {urlsplit(address).hostname for addresses in called for address in addresses.values()}
    if settings.get("platform") == "local" and hosts and hosts <= _THIS_MACHINE:
        return ""
    return (
        "nothing shows that its services are stand-ins, and an order could reach a real one. Deploy a stack for "
        "verification, whose `service_urls` lead to stand-ins and whose file says `stand_ins = true`; to check this "
        "one without orders, add --no-canaries"
    )
