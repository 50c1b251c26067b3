"""Which deployment a command is for: the options that every such command shares."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, ParamSpec

import typer

from stepward.cli.terminal import complain
from stepward.domain.errors import StepwardError, Transient

P = ParamSpec("P")
USUAL_STACK = "stepward"
PANEL = "Which deployment"

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs; the keys stay the same.")]
Stack = Annotated[
    str, typer.Option(envvar="STEPWARD_STACK", help="Name of the CloudFormation stack.", rich_help_panel=PANEL)
]
Local = Annotated[
    bool,
    typer.Option(
        "--local", envvar="STEPWARD_LOCAL", help="The cloud that `stepward local up` started.", rich_help_panel=PANEL
    ),
]
Endpoint = Annotated[
    str,
    typer.Option(
        envvar=["STEPWARD_ENDPOINT", "AWS_ENDPOINT_URL"],
        help="URL of an AWS emulator; AWS itself if left out.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
Region = Annotated[
    str, typer.Option(help="AWS region; else what AWS's own settings say.", show_default=False, rich_help_panel=PANEL)
]


@dataclass(frozen=True, slots=True)
class Target:
    """A deployment, as it was named on the command line or in the environment."""

    stack: str = USUAL_STACK
    local: bool = False
    endpoint: str = ""
    region: str = ""

    def typed(self, *words: str) -> str:
        """The `stepward` command of these words, for the same deployment, ready to be pasted."""
        stack = self.stack if self.stack != USUAL_STACK else ""
        given = {"--stack": stack, "--endpoint": self.endpoint, "--region": self.region}
        options = [part for name, value in given.items() if value for part in (name, value)]
        return shlex.join(["stepward", *words, *options, *(["--local"] if self.local else [])])


def faults_told(run: Callable[P, None]) -> Callable[P, None]:
    """`run`, with each expected fault told in a line, and exit code 1 instead of a traceback."""

    @wraps(run)
    def alerting(*args: P.args, **kwargs: P.kwargs) -> None:
        with _told():
            run(*args, **kwargs)

    return alerting


def for_deployment(run: Callable[..., None]) -> Callable[..., None]:
    """`run` as a command that has the options of `_options` in place of its first parameter."""

    def command(*, stack: str, local: bool, endpoint: str, region: str, **given: object) -> None:
        if local and endpoint:
            raise typer.BadParameter("--local and an endpoint (option or environment) exclude each other")
        with _told():
            run(Target(stack, local, endpoint, region), **given)

    own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
    shared = list(inspect.signature(_options, eval_str=True).parameters.values())
    command.__name__, command.__doc__ = run.__name__, run.__doc__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *shared]}
    # Typer reads a command's options off its signature.
    command.__dict__["__signature__"] = inspect.Signature(
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in [*own, *shared]]
    )
    return command


def _options(
    *, stack: Stack = USUAL_STACK, local: Local = False, endpoint: Endpoint = "", region: Region = ""
) -> None: ...


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except Transient as error:
        complain(f"{error}\nTry again; if it stays, check that your credentials may use the stack's tables and queues.")
        raise typer.Exit(1) from error
    except StepwardError as error:
        complain(str(error))
        raise typer.Exit(1) from error
