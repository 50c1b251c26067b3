"""`stepward local faults`: what the stand-ins of the remote services do wrong."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from stepward.cli.deployment.options import AsJson, reports_errors
from stepward.cli.local.addresses import known_service, stand_ins
from stepward.cli.terminal import OUT, cell, print_json, say, table, typed
from stepward.cli.user_error import UserError
from stepward.local.services.faults import EVERYONE, Fault, FaultKind
from stepward.project import Project

app = typer.Typer(no_args_is_help=True, help="List, set and clear what the stand-ins of the remote services do wrong.")
Service = Annotated[str, typer.Argument(help="The service, named as its agent.")]
Every = Annotated[str, typer.Argument(help="The service.", show_default="all of them")]
Kind = Annotated[FaultKind, typer.Argument(help="What its next call does.")]
Order = Annotated[str, typer.Option(help="Only for calls of this order.", show_default="all orders")]
Times = Annotated[int, typer.Option(min=0, help="How many calls; 0 is all, until you clear it.")]
Seconds = Annotated[float, typer.Option(min=0, max=3600, help="How long `hang` and `slow` take.")]


@app.command("list")
@reports_errors
def list_faults(*, as_json: AsJson = False) -> None:
    """List the faults to come.

    JSON: faults (list of: service, target (an order, or *), kind, times (null: always), seconds).
    """
    faults = _asked("GET")["faults"]
    if as_json:
        print_json({"faults": faults})
    elif faults:
        rows = table("service", "kind", "orders", "times", "seconds", least=["seconds", "times"])
        for each in faults:
            row = [each["service"], each["kind"], each["target"].replace(EVERYONE, "all"), each["times"] or "always"]
            rows.add_row(*(cell(str(text)) for text in (*row, f"{each['seconds']:g}")))
        OUT.print(rows)
    else:
        say(f"No faults: every service works. To set one: {typed('local', 'faults', 'set', 'SERVICE', 'fail')}")


@app.command("set")
@reports_errors
def set_fault(service: Service, kind: Kind, *, order: Order = "", times: Times = 1, seconds: Seconds = 60) -> None:
    """Have a service misbehave: `fail` answers 503, `decline` refuses for good, `hang` answers never, `slow` late.

    `die_after_effect` kills the agent once the service has done its work, `cut_after_effect` only its connection.

    Example: stepward local faults set bank decline --order ord-7
    """
    fault = Fault(known_service(Project.here().app(), service), order or EVERYONE, kind, times or None, seconds)
    _asked("POST", fault)
    calls = {0: "every call", 1: "its next call"}.get(times, f"its next {times} calls")
    say(f"{service}: {kind.value} for {calls} {f'of order {order}' if order else 'of any order'}.")


@app.command()
@reports_errors
def clear(service: Every = "") -> None:
    """Have a service work again, or all of them.

    Example: stepward local faults clear bank
    """
    _asked("DELETE", path=f"/_faults/{known_service(Project.here().app(), service)}" if service else "/_faults")
    say(f"{service or 'Every service'} works.")


def _asked(method: str, fault: Fault | None = None, path: str = "/_faults") -> dict[str, Any]:
    from urllib3 import PoolManager  # noqa: PLC0415 - `--help` must not import it

    _, server = stand_ins()
    body = json.dumps(asdict(fault)) if fault else None
    headers = {"Content-Type": "application/json"}
    with PoolManager(retries=False, timeout=5) as http:
        answer = http.request(method, f"{server.endpoint}{path}", body=body, headers=headers)
        found: dict[str, Any] = answer.json()
    if answer.status != 200:
        again = f"start them anew: {typed('local', 'down')}, then {typed('local', 'up')}"
        raise UserError(f"the stand-ins refuse it: {found.get('reason') or found.get('code')}; {again}")
    return found
