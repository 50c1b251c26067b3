"""Checks of a deployment's settings; a wrong one is named before anything is deployed."""

from __future__ import annotations

import ipaddress
import re
from datetime import date
from urllib.parse import urlsplit

from stepward.domain.errors import Misconfigured

_REGION = re.compile(r"[a-z]{2,4}(-[a-z]{1,12}){1,2}-[0-9]{1,2}")


def one_of(name: str, value: str, *allowed: str) -> None:
    """Refuse a value that is none of `allowed`."""
    if value not in allowed:
        raise Misconfigured(f"{name}={value!r} is none of {', '.join(allowed)}")


def within(name: str, value: int, least: int, most: int) -> None:
    """Refuse a number outside of `least` to `most`, both included."""
    if not least <= value <= most:
        raise Misconfigured(f"{name}={value} is outside {least}-{most}")


def matches(name: str, value: str, pattern: re.Pattern[str], meaning: str) -> None:
    """Refuse a text that is not `meaning`, which `pattern` describes in full."""
    if not pattern.fullmatch(value):
        raise Misconfigured(f"{name}={value!r} is not {meaning}")


def day(name: str, value: str) -> None:
    """Refuse what is no day."""
    try:
        is_day = date.fromisoformat(value).isoformat() == value
    except ValueError:
        is_day = False
    if not is_day:
        raise Misconfigured(f"{name}={value!r} is not a day, such as 2026-11-29")


def region(name: str, value: str) -> None:
    """Refuse what does not look like a region."""
    matches(name, value, _REGION, "a region, such as eu-west-1")


def service_url(service: str, url: str) -> None:
    """Refuse a bad address, and one that would carry an order over a network in clear text."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError as error:
        raise Misconfigured(
            f"service_urls: {service}={url!r} is not an address; write one such as https://{service}.example"
        ) from error
    if not host or parts.scheme not in {"http", "https"}:
        raise Misconfigured(
            f"service_urls: {service}={url!r} is not an http(s) address; write one such as https://{service}.example"
        )
    if parts.scheme == "http" and not is_loopback(host):
        raise Misconfigured(f"service_urls: {service}={url!r} must use https; plain http is for this machine only")


def own_address(name: str, url: str) -> None:
    """Refuse an address that is not just scheme, host and port of this machine."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    if not is_loopback(host) or url not in {f"http://{host}:{port}", f"https://{host}:{port}"}:
        raise Misconfigured(f"{name}={url!r} is not an address on this machine, such as http://127.0.0.1:4566")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
