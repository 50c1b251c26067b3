"""Turns what a file or CDK context says into the values of settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stepward.domain.errors import Misconfigured


def parsed(name: str, value: object, usual: object) -> Any:
    """`value` in the type of `usual`; raises Misconfigured."""
    match usual:
        case str():
            return str(value)
        case bool():
            return _switch(name, value)
        case int():
            return _whole(name, value)
        case tuple():
            return _texts(name, value)
        case _:
            return _addresses(name, value)


def typed(name: str, value: object, usual: object) -> Any:
    """The value of a file, which has the type of `usual` already; raises Misconfigured."""
    match usual, value:
        case (bool(), bool()) | (str(), str()):
            return value
        case int(), int() if not isinstance(usual, bool) and not isinstance(value, bool):
            return value
        case tuple(), list() if all(isinstance(item, str) for item in value):
            return tuple(dict.fromkeys(value))
        case Mapping(), Mapping() if all(isinstance(item, str) for item in value.values()):
            return value
    wanted, example = _WANTED[type(usual)]
    raise Misconfigured(f"{name} = {value!r} is not {wanted}; write it like {name} = {example}")


_WANTED = {
    bool: ("true or false", "true"),
    int: ("a whole number", "4"),
    str: ("a text", '"text"'),
    tuple: ("a list of texts", '["one", "two"]'),
    dict: ("a table of texts", '{ bank = "https://bank.example.com" }'),
}


def _switch(name: str, value: object) -> bool:
    if (text := str(value).lower()) not in {"true", "false"}:
        raise Misconfigured(f"{name}={value!r} is neither true nor false; write {name}=true or {name}=false")
    return text == "true"


def _whole(name: str, value: object) -> int:
    text = str(value)
    if not (text.isascii() and text.isdigit()):
        raise Misconfigured(f"{name}={value!r} is not a whole number")
    return int(text)


def _texts(name: str, value: object) -> tuple[str, ...]:
    listed = value.split(",") if isinstance(value, str) and value.strip() else value or []
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise Misconfigured(f"{name}={value!r} is not a list; separate its parts by commas")
    return tuple(dict.fromkeys(item.strip() for item in listed))


def _addresses(name: str, value: object) -> Mapping[str, str]:
    wrong = f'{name}={value!r} is no JSON object of service names and addresses; write {{"bank": "https://…"}}'
    try:
        found = json.loads(value) if isinstance(value, str) else value
    except ValueError as error:
        raise Misconfigured(wrong) from error
    if not isinstance(found, dict) or not all(isinstance(url, str) for url in found.values()):
        raise Misconfigured(wrong)
    return found
