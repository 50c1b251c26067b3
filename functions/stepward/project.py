"""The user's project: its folder, its environments, and its application. Lambda functions never read this."""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import Any

import stepward
from stepward.app_checks import unfit_messages
from stepward.domain.errors import Misconfigured, WorkflowError
from stepward.domain.workflow.application import App

APP = "STEPWARD_APP"
ENVIRONMENT = "env"
"""The CDK context option that names an environment."""
_ENGINE = Path(__file__).parent
_ENVIRONMENTS = Path("infra", "environments")
_NAMES_IT = f"[tool.stepward] app in pyproject.toml, or {APP},"
_KEY, _WORDS, _LINE = re.compile(r"\s*\[?([\w-]+)\s*[\]=]"), re.compile(r"[\w-]+"), re.compile(r"at line (\d+)")
_ASKED = re.compile(r"cannot import name '(\w+)' from 'stepward'")
_MADE = re.compile(r"(\w+)\.__init__\(\) (?:missing|got an unexpected|takes from)")
_STEP, _KINDS = re.compile(r"step '([^']+)'"), {"Step", "Signal", "Timer", "Child", "Each"}


@dataclass(frozen=True, slots=True)
class Environment:
    """What the file of one environment says, unchecked; `path` is below the project's folder."""

    path: Path
    values: Mapping[str, Any]
    lines: Mapping[str, int] = field(default_factory=dict)
    """Where each setting is."""

    def place(self, text: str) -> str:
        """The file, with the line of the setting that `text`, an error's, begins with or names first."""
        names = (word for word in _WORDS.findall(text) if word in self.lines)
        return f"{self.path}:{self.lines[name]}" if (name := next(names, "")) else str(self.path)


@dataclass(frozen=True, slots=True)
class Project:
    """A folder with a cdk.json, the application's code in `functions`, and `[tool.stepward]` in its pyproject.toml."""

    root: Path

    @classmethod
    def here(cls) -> Project:
        """The nearest folder upwards that holds a cdk.json; raises Misconfigured."""
        for folder in (Path.cwd(), *Path.cwd().parents):
            if (folder / "cdk.json").is_file():
                return cls(folder)
        raise Misconfigured("no cdk.json here or in a folder above; change into your project, and type this again")

    @property
    def functions(self) -> Path:
        """The folder with the code of the Lambda functions."""
        return self.root / "functions"

    @property
    def not_bundled(self) -> Sequence[str]:
        """Folders below `functions` that no function needs; raises Misconfigured."""
        folders = self._settings.get("not-bundled", [])
        if not isinstance(folders, list):
            raise Misconfigured(f"pyproject.toml: not-bundled = {folders!r} is no list; write [{folders!r}]")
        for each in folders:
            if not (self.functions / str(each)).exists():
                raise Misconfigured(
                    f"pyproject.toml: not-bundled: there is no functions/{each}; correct it, or remove it"
                )
        return tuple(folders)

    @property
    def dependencies(self) -> Sequence[str]:
        """What pyproject.toml says that the functions import."""
        return tuple(self._pyproject.get("project", {}).get("dependencies", ()))

    @property
    def environments(self) -> Sequence[Environment]:
        """What the files in `infra/environments` say; raises Misconfigured."""
        return [self._read(file) for file in sorted((self.root / _ENVIRONMENTS).glob("*.toml"))]

    def environment(self, name: str) -> Environment:
        """What `infra/environments/NAME.toml` says; raises Misconfigured."""
        if (file := self.root / _ENVIRONMENTS / f"{name}.toml").is_file():
            return self._read(file)
        lacks = (
            f"there is no {_ENVIRONMENTS / file.name}" if name else f"no environment is named with -c {ENVIRONMENT}=..."
        )
        known = [each.path.stem for each in self.environments]
        missing = "it" if name else f"{_ENVIRONMENTS}/dev.toml"
        advice = f"choose {' or '.join(known)}" if known else f"write {missing}"
        raise Misconfigured(f"{lacks}; {advice}")

    def _read(self, file: Path) -> Environment:
        path = file.relative_to(self.root)
        try:
            text = file.read_text()
            return Environment(path, tomllib.loads(text), dict(_lines_of_keys(text)))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            at = _LINE.search(str(error))
            raise Misconfigured(f"{path}{f':{at[1]}' if at else ''} cannot be read: {error}") from error

    def app(self, named: str = "") -> App:
        """The application `named` as module:name, else the one that STEPWARD_APP or pyproject.toml names.

        Puts `functions` on the import path. Raises Misconfigured.
        """
        target = named or os.environ.get(APP) or self._settings.get("app", "")
        if not target:
            raise Misconfigured(
                f'no application is named; add `[tool.stepward] app = "module:app"` to pyproject.toml, or set {APP}'
            )
        if str(self.functions) not in sys.path:
            sys.path.insert(0, str(self.functions))
        module, _, name = target.partition(":")
        with self.explained(f"no application {target!r} in {self.functions}, as {_NAMES_IT} says"):
            found = getattr(import_module(module), name or "app")
        if not isinstance(found, App):
            shop = f'app = App("{module.partition(".")[0]}", workflows=[...])'
            raise Misconfigured(f"{target!r} is {type(found).__name__}, not an application; name one: {shop}")
        for message, fault in unfit_messages(found):
            raise WorkflowError(f"{self._place_of(message)}{fault}")
        return found

    @contextmanager
    def explained(self, what: str) -> Iterator[None]:
        """Have what the project's own code raises say its file and line, or `what` failed; it raises Misconfigured.

        A WorkflowError stays one.
        """
        try:
            yield
        except WorkflowError as error:
            raise WorkflowError(f"{self._place(error) or what}: {error}") from error
        except Exception as error:
            place = self._place(error)
            said = f"{place}: {type(error).__name__}: {error}" if place else f"{what}: {error}"
            raise Misconfigured(f"{said}{_mend(str(error))}") from error

    def _place_of(self, message: type[Any]) -> str:
        """Where the project's code has a class, as `_place` says it."""
        file = Path(getattr(sys.modules.get(message.__module__), "__file__", None) or "/")
        kinds = ast.walk(ast.parse(file.read_text())) if file.is_relative_to(self.functions) else ()
        lines = [each.lineno for each in kinds if isinstance(each, ast.ClassDef) and each.name == message.__name__]
        return f"{file.relative_to(self.root)}:{lines[0]}: " if lines else ""

    def _place(self, error: Exception) -> str:
        """Where in the project's code an error arose, such as functions/shop/workflow.py:31; else nothing."""
        lines = [(frame.filename, frame.lineno) for frame in extract_tb(error.__traceback__)]
        if isinstance(error, SyntaxError):
            lines.append((error.filename or "", error.lineno))
        own = [
            (Path(file), line)
            for file, line in lines
            if Path(file).is_relative_to(self.functions) and not Path(file).is_relative_to(_ENGINE)
        ]
        if not own:
            return ""
        file, line = own[-1]
        if isinstance(error, WorkflowError) and (step := _STEP.search(str(error))):
            line = _line_of_step(file.read_text(), line or 1, step[1])
        return f"{file.relative_to(self.root)}:{line}"

    @property
    def _settings(self) -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self._pyproject.get("tool", {}).get("stepward", {})
        for name in settings.keys() - {"app", "not-bundled"}:
            raise Misconfigured(f"pyproject.toml: [tool.stepward] has {name!r}, and takes app and not-bundled only")
        return settings

    @property
    def _pyproject(self) -> Mapping[str, Any]:
        file = self.root / "pyproject.toml"
        try:
            return tomllib.loads(file.read_text()) if file.is_file() else {}
        except tomllib.TOMLDecodeError as error:
            raise Misconfigured(f"pyproject.toml cannot be read: {error}") from error


def _mend(error: str) -> str:
    """What to write instead of a name that Stepward has not, or the arguments of a part that got wrong ones."""
    if asked := _ASKED.match(error):
        return "".join(f"; did you mean {name}?" for name in get_close_matches(asked[1], stepward.__all__, 1))
    named = _MADE.match(error)
    kind = getattr(stepward, named[1], None) if named and named[1] in stepward.__all__ else None
    return f"; {named[1]} takes {', '.join(each.name for each in fields(kind))}" if named and is_dataclass(kind) else ""


def _lines_of_keys(text: str) -> Iterator[tuple[str, int]]:
    """The line of each key and table of a TOML text, as far as lines tell."""
    for line, words in enumerate(text.splitlines(), 1):
        if key := _KEY.match(words):
            yield key[1], line


def _line_of_step(source: str, line: int, step: str) -> int:
    """The line of the last step of this name in the call that began at `line`, or in the file; `line` if neither."""
    calls = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.Call)]
    named = [
        each.lineno for each in calls if ast.unparse(each.func).rpartition(".")[2] in _KINDS and step in _names(each)
    ]
    ends = [each.end_lineno or line for each in calls if each.lineno == line]
    within = [each for each in named if line <= each <= max(ends, default=line)]
    return [line, *named, *within][-1]


def _names(step: ast.Call) -> Iterator[str]:
    """What a step may be named after: its name=, its first argument if that is a text, or else the operation's name."""
    named = [each.value for each in step.keywords if each.arg == "name"] or step.args[:1]
    for each in named:
        words = re.findall(r"\w+", ast.unparse(each))
        yield str(each.value) if isinstance(each, ast.Constant) else "".join(words[-1:])
