"""The options by which commands name their deployment, or the application in the project."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Annotated, Any, ParamSpec

import typer

from stepward.cli.terminal import complain, typed
from stepward.domain.errors import Misconfigured, StepwardError, Transient, WorkflowError
from stepward.domain.workflow.application import App
from stepward.operator.rights.denials import advice
from stepward.project import Project

P = ParamSpec("P")
DEFAULT_STACK, DEFAULT_ENVIRONMENT = "stepward", "dev"
PANEL = "Which deployment"

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs; its keys are stable.")]
Customer = Annotated[
    str, typer.Option(help="The order's customer, where order ids are unique per customer.", show_default=False)
]
AddressedWorkflow = Annotated[
    str, typer.Option("--workflow", help="The order's workflow.", show_default="the default one")
]
Named = Annotated[str, typer.Option("--app", help="Your application, as module:name.", show_default="pyproject.toml's")]
WorkflowName = Annotated[str, typer.Option("--workflow", help="One of the workflows.", show_default=False)]
Stack = Annotated[
    str,
    typer.Option(
        envvar="STEPWARD_STACK", help="Name of the CloudFormation stack.", show_default="--env's", rich_help_panel=PANEL
    ),
]
Env = Annotated[
    str,
    typer.Option(
        "--env",
        envvar="STEPWARD_ENV",
        help="Name of a file in infra/environments, which names stack and region.",
        show_default=DEFAULT_ENVIRONMENT,
        rich_help_panel=PANEL,
    ),
]
Local = Annotated[
    bool,
    typer.Option(
        "--local",
        envvar="STEPWARD_LOCAL",
        help="Use the cloud that `stepward local up` started.",
        rich_help_panel=PANEL,
    ),
]
Endpoint = Annotated[
    str,
    typer.Option(
        envvar=["STEPWARD_ENDPOINT", "AWS_ENDPOINT_URL"],
        help="URL of an AWS emulator; AWS itself by default.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
Region = Annotated[
    str,
    typer.Option(help="AWS region; by default that of your AWS settings.", show_default=False, rich_help_panel=PANEL),
]


@dataclass(frozen=True, slots=True)
class Target:
    """The name of a deployment, from the command line or the environment; a command without options is for `bare`.

    `customer` and `workflow` are given beside the id of an order; a hint names an order by its key instead.
    """

    stack: str = DEFAULT_STACK
    local: bool = False
    endpoint: str = ""
    region: str = ""
    bare: str = DEFAULT_STACK
    customer: str = ""
    workflow: str = ""

    @classmethod
    def chosen(cls, *, stack: str, env: str, local: bool, endpoint: str, region: str) -> Target:
        """The deployment of these options: what they leave out is as the environment's file says."""
        said = _environment(env)
        bare = str(_environment("").get("stack", DEFAULT_STACK))
        if stack:
            return cls(stack, local, endpoint, region, bare)
        return cls(said.get("stack", DEFAULT_STACK), local, endpoint, region or said.get("region", ""), bare)

    def typed(self, *words: str) -> str:
        """A `stepward` command of these words for the same deployment, quoted for the shell."""
        stack = self.stack if self.stack != self.bare else ""
        given = {"--stack": stack, "--endpoint": self.endpoint, "--region": self.region}
        options = [part for name, value in given.items() if value for part in (name, value)]
        return typed(*words, *options, *(["--local"] if self.local else []))


def application(named: str) -> App:
    """The application of that name, or the project's; for what it is refused, the command is of wrong usage."""
    try:
        return Project.here().app(named)
    except (Misconfigured, WorkflowError) as error:
        complain(str(error))
        raise typer.Exit(2) from None


def reports_errors(run: Callable[P, None]) -> Callable[P, None]:
    """`run`, but an expected error prints its message and exits with 1, without a traceback."""

    @wraps(run)
    def reporting(*args: P.args, **kwargs: P.kwargs) -> None:
        with _errors_reported():
            run(*args, **kwargs)

    return reporting


def for_deployment(run: Callable[..., None]) -> Callable[..., None]:
    """`run` as a command, with the options of `_options` in place of its first parameter.

    If it is about an order, it takes those of `_address`, too.
    """

    def command(*, stack: str, env: str, local: bool, endpoint: str, region: str, **given: Any) -> None:
        address = {parameter.name: given.pop(parameter.name) for parameter in addressed}
        if local and endpoint:
            raise typer.BadParameter("give --local or an endpoint (option or environment), not both")
        with _errors_reported():
            target = Target.chosen(stack=stack, env=env, local=local, endpoint=endpoint, region=region)
            run(replace(target, **address), **given)

    own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
    is_about_an_order = any(parameter.name == "order" for parameter in own)
    addressed = list(inspect.signature(_address, eval_str=True).parameters.values()) if is_about_an_order else []
    shared = [*addressed, *inspect.signature(_options, eval_str=True).parameters.values()]
    command.__name__, command.__doc__ = run.__name__, run.__doc__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *shared]}
    # Typer takes a command's options from its signature.
    command.__dict__["__signature__"] = inspect.Signature(
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in [*own, *shared]]
    )
    return command


def _options(
    *, stack: Stack = "", env: Env = "", local: Local = False, endpoint: Endpoint = "", region: Region = ""
) -> None: ...


def _address(*, customer: Customer = "", workflow: AddressedWorkflow = "") -> None: ...


def _environment(name: str) -> Mapping[str, Any]:
    """What an environment's file says; by default that of `dev`, if this is the folder of a project that has it."""
    if name:
        return Project.here().environment(name).values
    try:
        return Project.here().environment(DEFAULT_ENVIRONMENT).values
    except Misconfigured:
        return {}


@contextmanager
def _errors_reported() -> Iterator[None]:
    try:
        yield
    except StepwardError as error:
        again = "Try again." if isinstance(error, Transient) else ""
        complain("\n".join(filter(None, [str(error), advice(error) or again])))
        raise typer.Exit(1) from error
