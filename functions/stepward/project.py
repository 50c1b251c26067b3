"""The user's project: its folder, its environments, and its application. Lambda functions never read this."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from traceback import extract_tb
from typing import Any

from stepward.domain.errors import Misconfigured, WorkflowError
from stepward.domain.workflow.application import App

APP = "STEPWARD_APP"
ENVIRONMENT = "env"
"""The CDK context option that names an environment."""
_ENGINE = Path(__file__).parent
_ENVIRONMENTS = Path("infra", "environments")


@dataclass(frozen=True, slots=True)
class Environment:
    """What the file of one environment says, unchecked; `path` is below the project's folder."""

    path: Path
    values: Mapping[str, Any]


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
        """Folders below `functions` that no function needs."""
        return tuple(self._settings.get("not-bundled", ()))

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
            return Environment(path, tomllib.loads(file.read_text()))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise Misconfigured(f"{path} cannot be read: {error}") from error

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
        with self.explained(f"no application {target!r} in {self.functions}"):
            found = getattr(import_module(module), name or "app")
        if not isinstance(found, App):
            raise Misconfigured(f"{target!r} is {type(found).__name__}, not an application")
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
            raise Misconfigured(f"{place}: {type(error).__name__}: {error}" if place else f"{what}: {error}") from error

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
        return f"{own[-1][0].relative_to(self.root)}:{own[-1][1]}" if own else ""

    @property
    def _settings(self) -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self._pyproject.get("tool", {}).get("stepward", {})
        return settings

    @property
    def _pyproject(self) -> Mapping[str, Any]:
        file = self.root / "pyproject.toml"
        return tomllib.loads(file.read_text()) if file.is_file() else {}
