"""The services of a project, as a person names them, and their stand-ins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from stepward.cli.terminal import typed
from stepward.cli.user_error import UserError
from stepward.domain.workflow.application import App

if TYPE_CHECKING:
    from stepward.local.processes import RunningServices
    from stepward.local.server import Server


def addresses_of(app: App, given: Sequence[str]) -> Mapping[str, str]:
    """The addresses in texts like `bank=http://127.0.0.1:8080`; raises UserError."""
    found = dict(text.partition("=")[::2] for text in given)
    for name, url in found.items():
        known_service(app, name)
        if not url.startswith(("http://", "https://")):
            raise UserError(f"--service {name}={url}: give an address, such as {name}=http://127.0.0.1:8080")
    return found


def known_service(app: App, name: str) -> str:
    """The name of a service that some agent calls; raises UserError for another one."""
    names = sorted(app.services)
    if name not in names:
        near = get_close_matches(name, names, 1)
        raise UserError(f"no agent calls a service {name!r}; choose {' or '.join(near or names)}")
    return name


def stand_ins() -> tuple[RunningServices, Server]:
    """The stand-ins beside the local cloud, and their process; raises UserError if they do not run."""
    from stepward.local.processes import running_cloud, services_of  # noqa: PLC0415 - `--help` must not import these

    services = services_of(running_cloud())
    if (server := services.server) is None:
        raise UserError(f"no stand-ins are running; start them with: {typed('local', 'up')}")
    return services, server
