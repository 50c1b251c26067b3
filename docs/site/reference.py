"""The pages of the reference, which are made from the code: names, commands, messages, metrics and licences."""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import typer
import typer.main
from typer.cli import get_docs_for_click
from typer.core import TyperGroup

import stepward
from stepward.cli.main import app as commands
from stepward.cli.schemas.messages import RECEIVED, Schema, schemas, sent_to
from stepward.domain.history import ROUTINE, TELLS, WAKES, HistoryKind
from stepward.domain.workflow.application import App
from stepward.domain.workflow.plan import Exhausted
from stepward_cdk.settings.chosen import REQUIRED
from stepward_cdk.settings.settings import Settings

ROOT = Path(__file__).parents[2]
_POLICIES = "`ALERT` ends the step in Error and alerts the operators; `UNDO` undoes the whole order."
_FACE = {
    "What a workflow is made of": "App Workflow Step Timer Signal Child Each Agent Operation",
    "What an operation gets and returns": "Call Later secret service_url",
    "What an operation raises": "Transient Permanent Misconfigured",
    f"What happens when trying again does not help\n\n{_POLICIES}": "ALERT UNDO RetryAfter Fallback Remind Default",
    "What depends on data": "ref all_of any_of none_of",
    "Spans of time": "seconds minutes hours days",
    "Messages": "OrderMessage EventMessage ShortText Source Ignored Rejected",
    "What is refused when a module is imported": "WorkflowError",
}
"""Every public name, under what it is for; the pages come in this order."""

_MESSAGES = """# Messages

`stepward schema TYPE` prints the schemas of your own application; these are the example's. Limits that no schema can
express are in [order messages](../order-messages.md) and [the convoy](../convoy.md#messages).
"""
_LICENCES = """# Licences

Stepward is licensed under Apache-2.0. These are the packages that it builds on.

| package | version | licence | in the functions |
| --- | --- | --- | --- |"""
_SETTINGS = """# Settings

A deployment is a file, `infra/environments/NAME.toml`, and each of these is a key of it
([environments](../operations.md#environments)).

| setting | default | unit | is |
| --- | --- | --- | --- |"""
_UNITS = {"ms": "milliseconds", "s": "seconds", "minutes": "minutes", "days": "days"}
_EXIT_CODES = """# Commands

| exit code | means |
| --- | --- |
| 0 | done |
| 1 | failed, refused, or not all of it was done: the text says what, and what to type next |
| 2 | wrong usage: nothing was sent |
| 130 | stopped by Ctrl-C; what was asked already is still done |
"""
_METHODS = {"Agent": ["operation"]}


def write(into: Path, app: App) -> None:
    """Write all pages, and a file for each schema, below `into`."""
    (into / "schemas").mkdir(parents=True, exist_ok=True)
    for name, text in pages(app).items():
        (into / name).write_text(text, encoding="utf-8")
    for kind, schema in schemas(app).items():
        (into / _file(kind)).write_text(json.dumps(schema, indent=2, ensure_ascii=False), encoding="utf-8")


def pages(app: App) -> Mapping[str, str]:
    """The text of each page, by its file."""
    return {
        "names.md": names(),
        "commands.md": command_line(),
        "messages.md": messages(app),
        "metrics.md": metrics(),
        "settings.md": settings(),
        "licences.md": licences(),
    }


def names() -> str:
    """What `from stepward import …` offers; the site's builder reads signatures and docstrings in the source."""
    parts = [f"## {title}\n\n{_entries(public)}" for title, public in _FACE.items()]
    return "# Names\n\nAll that an application imports from `stepward`.\n\n" + "\n".join(parts)


def _entries(public: str) -> str:
    return "\n".join(
        f"::: {home_of(name)}\n    options: {{members: {json.dumps(members_of(name))}}}\n" for name in public.split()
    )


def home_of(name: str) -> str:
    """Where a public name is defined."""
    inside = "Exhausted." if isinstance(getattr(stepward, name), Exhausted) else ""
    return f"{stepward._HOMES[name]}.{inside}{name}"  # noqa: SLF001 - the one table of public names


def members_of(name: str) -> Sequence[str]:
    """What a public class has to tell beside its own docstring: the fields that have one, and few methods."""
    found = getattr(stepward, name)
    if not inspect.isclass(found):
        return []
    body = ast.parse(textwrap.dedent(inspect.getsource(found))).body[0].body  # type: ignore[attr-defined]
    told = [
        field.target.id
        for field, said in itertools.pairwise(body)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(said, ast.Expr)
    ]
    return [*told, *_METHODS.get(name, ())]


def command_line() -> str:
    """The help of every command, as it prints it."""
    group = typer.main.get_group(commands)
    made: str = get_docs_for_click(obj=group, ctx=typer.Context(group, info_name="stepward"), name="stepward")
    return _whole(made, group).replace("# `stepward`\n", _EXIT_CODES, 1)


def _whole(made: str, group: TyperGroup) -> str:
    """The text with the first sentence of each command, of which Typer shows 45 characters."""
    for name, command in group.commands.items():
        made = made.replace(
            f"* `{name}`: {command.get_short_help_str()}", f"* `{name}`: {command.get_short_help_str(200)}"
        )
        made = _whole(made, command) if isinstance(command, TyperGroup) else made
    return made


def messages(app: App) -> str:
    """Every message that crosses the border of a deployment, with its schema."""
    sent, every = sent_to(app), schemas(app)
    sends = [_message(kind, every[kind]) for kind in sent]
    receives = [_message(kind, every[kind]) for kind in RECEIVED]
    return "\n".join([_MESSAGES, "## What you send\n", *sends, "## What you receive\n", *receives])


def _message(kind: str, schema: Schema) -> str:
    said = " ".join(str(schema["$defs"][schema["$ref"].rpartition("/")[2]].get("description", "")).split())
    body = "\n".join(f"    {line}" for line in json.dumps(schema, indent=2, ensure_ascii=False).splitlines())
    return f'### `{kind}`\n\n{said}\n\n??? note "[JSON Schema]({_file(kind)})"\n\n    ```json\n{body}\n    ```\n'


def _file(kind: str) -> str:
    return f"schemas/{kind.replace(' ', '-')}.json"


def metrics() -> str:
    """Every entry of an order's history: what counts it, and whom it tells."""
    rows = [f"| `{it}` | {_code(it.metric)} | {_code(it.timer)} | {_heard(it)} |" for it in HistoryKind]
    return "\n".join(
        [
            "# Log lines and metrics",
            "",
            "Each function logs a line for each history entry. An entry with a metric also adds one to it; the second ",
            "metric is a time in milliseconds. [What watches what](../watching.md) has every alarm.",
            "",
            "| log line | metric | time | heard by |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
        ]
    )


def settings() -> str:
    """Every setting of a deployment, with its default, its unit, and what it is."""
    rows = [
        f"| `{it.name}` | {_default(it.name)} | {_UNITS.get(it.name.rpartition('_')[2], '')} | {it.metadata['says']} |"
        for it in fields(Settings)
    ]
    return "\n".join([_SETTINGS, *rows, ""])


def _default(name: str) -> str:
    value = Settings().plain[name]
    return "required" if name in REQUIRED else f"`{json.dumps(value)}`"


def _code(name: str) -> str:
    return f"`{name}`" if name else ""


def _heard(kind: HistoryKind) -> str:
    if WAKES in kind.marks:
        return "`page_email`"
    return "`alert_email`" if TELLS in kind.marks else "full watching only" if ROUTINE in kind.marks else ""


def licences() -> str:
    """Every package that development installs, with its licence, and whether the functions bring it along."""
    bundle = set(_pinned("functions"))
    rows = [
        f"| {name} | {it.version} | {_licence(it)} | {'yes' if name in bundle else ''} |"
        for name, it in _installed(_pinned("dev"))
    ]
    return "\n".join([_LICENCES, *rows, ""])


def _pinned(environment: str) -> Sequence[str]:
    text = (ROOT / "requirements" / f"{environment}.txt").read_text(encoding="utf-8")
    return re.findall(r"^([a-z0-9._-]+)==", text, re.MULTILINE)


def _installed(names: Iterable[str]) -> Iterator[tuple[str, Distribution]]:
    for name in names:
        with suppress(PackageNotFoundError):  # a package for another system
            yield name, distribution(name)


def _licence(package: Distribution) -> str:
    said = package.metadata.json
    kinds = [each.rpartition(" :: ")[2] for each in said.get("classifier", ()) if each.startswith("License")]
    named = ", ".join(each for each in kinds if each != "OSI Approved")
    return str(said.get("license_expression") or named or said.get("license", "unknown")).splitlines()[0]
