"""`stepward local`: starts and stops the whole stack on this machine."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from stepward.cli.deployment.options import DEFAULT_ENVIRONMENT, AsJson, Env, Stack, Target, reports_errors
from stepward.cli.local import faults
from stepward.cli.local.addresses import addresses_of
from stepward.cli.local.effects import effects
from stepward.cli.terminal import ERR, complain, print_json, say, typed

app = typer.Typer(no_args_is_help=True, help="Run the whole stack on this machine.")
app.add_typer(faults.app, name="faults")
app.command()(effects)
Service = Annotated[
    list[str],
    typer.Option("--service", metavar="NAME=URL", help="The address of a real service, in place of its stand-in."),
]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1.", show_default="any that is free")]


@app.command()
@reports_errors
def up(
    *,
    port: Port = 0,
    service: Service = [],  # noqa: B006 - Typer copies it
    env: Env = DEFAULT_ENVIRONMENT,
    stack: Stack = "",
    as_json: AsJson = False,
) -> None:
    """Start the local cloud, deploy the stack to it, and leave it running.

    Run it again to deploy changes. A small server stands in for the remote service of each agent, and misbehaves if
    `stepward local faults` says so; --service bank=http://127.0.0.1:8080 has agents call a service of your own.

    JSON: running, endpoint, services (the address of the remote services), log (a file).
    """
    # `--help` must not import these.
    from stepward.local.deploy import deploy  # noqa: PLC0415
    from stepward.local.processes import left_running, running_cloud, services_of  # noqa: PLC0415
    from stepward.local.secret_store import demanded  # noqa: PLC0415
    from stepward.local.synth import check_installed, notices, synthesise  # noqa: PLC0415
    from stepward.project import Project  # noqa: PLC0415

    check_installed()
    project, cloud = Project.here(), running_cloud()
    application, real = project.app(), addresses_of(project.app(), service)
    with ERR.status("Starting the local cloud") as status, left_running(cloud):
        server = cloud.up(port=port)
        services = services_of(cloud).up(demanded(application.agents))
        status.update("Synthesising the stack")
        addresses = {name: real.get(name, f"{services.endpoint}/{name}") for name in application.services}
        target = Target.chosen(stack=stack, env=env, local=True, endpoint="", region="")
        context = {"env": env, "platform": "local", "service_urls": addresses, "stack": target.stack}
        told = notices(synthesise(project.root, out := cloud.folder / "cdk.out", context), context)
        deploy(out, server.endpoint, progress=lambda step: status.update(f"Deploying: {step}"))
    if told:
        complain(told)
    if as_json:
        print_json(_state())
        return
    say(f"Stack {target.stack} is up at {server.endpoint}.\n\n{what_next(target)}\n\nThe log is {cloud.log}.")


def what_next(target: Target) -> str:
    """What to type once the stack is up; a new project has no console yet, and make installs it."""
    send, show = target.typed("send", "ORDER.json"), target.typed("show", "ORDER-ID")
    order = f"To send an order and look at it:\n  {send}\n  {show}"
    fault = f"To have a service misbehave: {typed('local', 'faults', 'set', 'SERVICE', 'fail')}"
    console = target.typed("console") if find_spec("nicegui") else "make console"
    pages = f"To see all of it in a browser: {console}"
    return f"{order}\n{fault}\n{pages}\nTo stop the local cloud and delete its contents: {typed('local', 'down')}"


@app.command()
@reports_errors
def down(*, as_json: AsJson = False) -> None:
    """Stop the local cloud and delete its contents.

    JSON: stopped (whether it was running).
    """
    from stepward.local.processes import running_cloud, stop_all  # noqa: PLC0415

    cloud = running_cloud()
    with ERR.status("Stopping the local cloud"):
        stopped = stop_all(cloud)
    if as_json:
        print_json({"stopped": stopped})
        return
    rest = " Its files are still being removed, in the background." if cloud.is_removing else ""
    say(f"The local cloud is stopped.{rest}" if stopped else "No local cloud was running.")


@app.command()
@reports_errors
def status(*, as_json: AsJson = False) -> None:
    """Show whether the local cloud is running, and where.

    JSON: running, endpoint, services (the address of the remote services), log (a file).
    """
    state = _state()
    if as_json:
        print_json(state)
    elif state["running"]:
        say(f"The local cloud is running at {state['endpoint']}; its log is {state['log']}.")
    else:
        say(f"No local cloud is running. To start one: {typed('local', 'up')}")


@app.command()
@reports_errors
def demo(*, env: Env = DEFAULT_ENVIRONMENT) -> None:
    """Run the sample orders in `events` on a local cloud of its own, while services fail and an agent dies.

    It shows how each order ended, and leaves nothing behind. Exit code 1 if an order has not ended, or something was
    done twice.

    Example: stepward local demo
    """
    from stepward.cli.local.demo.run import run  # noqa: PLC0415
    from stepward.project import Project  # noqa: PLC0415

    if not run(Project.here(), env):
        raise typer.Exit(1)


def _state() -> dict[str, object]:
    from stepward.local.processes import running_cloud, services_of  # noqa: PLC0415

    cloud = running_cloud()
    server, services = cloud.server, services_of(cloud).server
    return {
        "running": server is not None,
        "endpoint": server.endpoint if server else None,
        "services": services.endpoint if services else None,
        "log": str(cloud.log),
    }
