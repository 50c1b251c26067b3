"""What one run deploys: the settings of an environment's file, and what CDK context changes of them for this run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches

from stepward.domain.errors import Misconfigured
from stepward.project import ENVIRONMENT, Environment, Project
from stepward_cdk.settings.context import typed
from stepward_cdk.settings.settings import Settings

REQUIRED = ("stack", "environment", "region", "alert_email", "event_bus", "shards", "service_urls")
"""No default of these is right for every deployment, so a file that forgets one is refused."""
_SAYS = {item.name: str(item.metadata["says"]) for item in fields(Settings)}
_OPTION = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")  # CDK's own have an "@" or a ":", but for the two below
_OPTIONS_OF_CDK = frozenset({"acknowledged-issue-numbers", "cli-telemetry"})


@dataclass(frozen=True, slots=True)
class Chosen:
    """The settings of this run; `notes` tell a person how they differ from the file, `addresses` where these are.

    `usual` are the settings of the file alone, and `file` is where its addresses are.
    """

    settings: Settings
    notes: Sequence[str]
    addresses: str
    usual: Settings
    file: str


def choose(project: Project, context: Mapping[str, object]) -> Chosen:
    """The settings of the environment that `context` names, with its other options; raises Misconfigured."""
    options = {name: value for name, value in context.items() if _is_option(name)}
    file = project.environment(str(options.pop(ENVIRONMENT, "")))
    usual = in_file(file)
    for name in options:
        if name not in _SAYS:
            raise Misconfigured(f"-c {name}=... is no setting; {_nearest(name)}")
    settings = Settings.from_context(options.get, usual)
    _check_place(project, file, settings, usual)
    changed = [name for name in options if getattr(settings, name) != getattr(usual, name)]
    in_its_file = f"{file.path}: service_urls"
    addresses = "-c service_urls=..." if "service_urls" in options else in_its_file
    return Chosen(settings, [_note(name, settings, usual, file) for name in changed], addresses, usual, in_its_file)


def in_file(file: Environment) -> Settings:
    """The settings that an environment's file holds; raises Misconfigured with the name of the file."""
    for name in file.values:
        if name not in _SAYS:
            raise Misconfigured(f"{file.place(name)}: {name} is no setting; {_nearest(name)}")
    for name in REQUIRED:
        if name not in file.values:
            raise Misconfigured(f"{file.path} lacks {name} ({_SAYS[name]}); add it")
    usual = Settings()
    try:
        return Settings(**{name: typed(name, value, getattr(usual, name)) for name, value in file.values.items()})
    except Misconfigured as error:
        raise Misconfigured(f"{file.place(str(error))}: {error}") from error


def _check_place(project: Project, file: Environment, settings: Settings, usual: Settings) -> None:
    """Refuse to deploy a stack with less protection, or with the settings of another one."""
    if settings.environment != usual.environment:
        raise Misconfigured(
            f"-c environment={settings.environment}: {file.path} says {usual.environment}, and no single run may "
            f"change what is protected; leave the option out, or name another environment with -c {ENVIRONMENT}=..."
        )
    for other in project.environments:
        if other.path != file.path and _place(other.values) == (settings.stack, settings.region):
            raise Misconfigured(
                f"stack {settings.stack} belongs to {other.path}; give {file.path} a stack of its own"
                if settings.stack == usual.stack
                else f"-c stack={settings.stack}: that stack belongs to {other.path}; deploy it with its own settings"
            )


def _place(values: Mapping[str, object]) -> tuple[object, object]:
    return values.get("stack"), values.get("region", "")


def _is_option(name: str) -> bool:
    return bool(_OPTION.fullmatch(name)) and name not in _OPTIONS_OF_CDK


def _nearest(name: str) -> str:
    found = get_close_matches(name.lower().replace("-", "_"), _SAYS, 1)
    return f"did you mean {found[0]}?" if found else "docs/operations.md of Stepward lists all settings"


def _note(name: str, settings: Settings, usual: Settings, file: Environment) -> str:
    said = "says" if name in file.values else "leaves it at"
    return f"{name}={_text(settings, name)} for this run only; {file.path} {said} {_text(usual, name)}"


def _text(settings: Settings, name: str) -> str:
    value = getattr(settings, name)
    return ",".join(value) if isinstance(value, tuple) else str(value) or '""'
