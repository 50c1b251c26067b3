"""The addresses of the agents' remote services: one JSON object of agent and address, set by the deployment."""

from __future__ import annotations

import ipaddress
import json
import os
from collections.abc import Mapping
from functools import cache

from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

from stepward.domain.errors import Misconfigured

ADDRESSES = "STEPWARD_SERVICE_URLS"
_ADD = "write it under [service_urls] in infra/environments, and deploy"


def service_url(agent: str) -> str:
    """The address of the remote service of `agent`, without a slash at its end; raises Misconfigured without one.

    Plain http is for this machine only.
    """
    base = _addresses(os.environ.get(ADDRESSES, "")).get(agent)
    if base is None:
        raise Misconfigured(f"{ADDRESSES} names no address for {agent!r}; {_ADD}")
    return base


@cache
def _addresses(text: str) -> Mapping[str, str]:
    if not text:
        raise Misconfigured(f"{ADDRESSES} is not set; {_ADD}")
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise Misconfigured(f"{ADDRESSES} is not set to a JSON object of agent and address; {_ADD}") from error
    if not isinstance(raw, dict):
        raise Misconfigured(f"{ADDRESSES} is not a JSON object of agent and address")
    return {agent: _checked(agent, address) for agent, address in raw.items()}


def _checked(agent: str, address: object) -> str:
    where = f"{ADDRESSES}[{agent!r}]"
    try:
        url = parse_url(address) if isinstance(address, str) else Url()
    except LocationParseError as error:
        raise Misconfigured(f"{where} is not an address") from error
    if not url.host or url.scheme not in {"http", "https"}:
        raise Misconfigured(f"{where} must be an https address")
    if url.auth is not None:
        raise Misconfigured(f"{where} must not hold credentials")
    if url.query is not None or url.fragment is not None:
        raise Misconfigured(f"{where} must end with its path")
    if url.scheme == "http" and not _is_loopback(url.host):
        raise Misconfigured(f"{where} must use https: only this machine may be called without")
    return url.url.rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
