"""`stepward deploy-check`: what stands between a change and its deployment."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep  # noqa: TID251 -- a command on a person's machine may wait
from typing import Annotated, Any

import typer

from stepward.cli.deploy_check.change import Change, Stack
from stepward.cli.deploy_check.draining import draining
from stepward.cli.deploy_check.questions import END_BY_THEMSELVES, QUESTIONS, refusals
from stepward.cli.deployment.options import AsJson, Endpoint, Env, Local, Target, reports_errors
from stepward.cli.terminal import complain, print_json, say
from stepward.project import ENVIRONMENT, Project

Context = Annotated[list[str], typer.Option("--context", "-c", help="A setting for this run only, as NAME=VALUE.")]
Allow = Annotated[list[str], typer.Option("--allow", help=f"Pass over a refusal: {', '.join(QUESTIONS)}.")]
CdkOptions = Annotated[list[str], typer.Argument(help="Options of `cdk deploy`; those of CDK alone are passed over.")]
Drain = Annotated[bool, typer.Option(help="Wait until nothing is left of what this change takes away.")]
LOOKED_AT_EVERY_S = 15
Found = Sequence[tuple[str, str, bool]]


@reports_errors
def deploy_check(
    cdk_options: CdkOptions = [],  # noqa: B006 - Typer copies it
    *,
    env: Env,
    context: Context = [],  # noqa: B006
    allow: Allow = [],  # noqa: B006
    drain: Drain = False,
    local: Local = False,
    endpoint: Endpoint = "",
    as_json: AsJson = False,
) -> None:
    """Synthesise the stack, compare it with the deployed one, and refuse what would strand work or lose data.

    It changes nothing. `make deploy` runs it first; in a project of your own, run it before `cdk deploy`. It exits
    with 1 if something is refused. It also says what is left of what drains: of what no new order uses.

    Example: stepward deploy-check --env prod && cdk deploy -c env=prod

    JSON: stack, new (whether none is deployed), settings (NAME: [deployed, new] for each that differs), draining
    (name, orders, messages, more), refusals (question, reason, allowed).
    """
    if "--profile" in cdk_options[:-1]:
        os.environ["AWS_PROFILE"] = cdk_options[cdk_options.index("--profile") + 1]
    if unknown := set(allow) - set(QUESTIONS):
        raise typer.BadParameter(f"--allow {', '.join(sorted(unknown))}: choose from {', '.join(QUESTIONS)}")
    given = dict(option.partition("=")[::2] for option in context)
    # Synthesis takes half a minute: what has no region, or no local cloud, hears so before.
    _check_account(env, given.get("region", ""), local=local, endpoint=endpoint)
    after = _synthesised({**given, ENVIRONMENT: env, **({"platform": "local"} if local else {})})
    target = Target(after.settings["stack"], local, endpoint, after.settings["region"])
    look = partial(_compared, after, target, f"infra/environments/{env}.toml")
    change, new, found = _looked(look, allow, drain=drain)
    if as_json:
        print_json(_document(change, found, new=new))
    else:
        _tell(change, found, new=new)
    if _refused(found):
        raise typer.Exit(1)


def _looked(
    look: Callable[[], tuple[Change, bool]], allow: Sequence[str], *, drain: bool
) -> tuple[Change, bool, Found]:
    """The change and what is refused; with `drain` as soon as nothing is refused that ends by itself."""
    told: Found = []
    while True:
        change, new = look()
        found = [(name, reason, name in allow) for name, reason in refusals(change, new=new)]
        if not drain or not _refused(found) or _refused(found) - END_BY_THEMSELVES:
            return change, new, found
        for name, reason, _ in found if found != told else ():
            complain(f"Waiting ({name}): {reason}.")
        told = found
        sleep(LOOKED_AT_EVERY_S)


def _synthesised(context: Mapping[str, object]) -> Stack:
    from stepward.local.cloud_assembly import Assembly  # noqa: PLC0415 - `--help` must not import these
    from stepward.local.synth import synthesise  # noqa: PLC0415

    with TemporaryDirectory(prefix="stepward-") as scratch:
        out = Path(scratch) / "cdk.out"
        if told := synthesise(Project.here().root, out, context).strip():
            complain(told)
        return Stack(json.loads(Assembly(out, str).template))


def _check_account(env: str, region: str, *, local: bool, endpoint: str) -> None:
    from stepward.cli.deployment.aws import find_account  # noqa: PLC0415 - it imports the AWS SDK

    find_account(Target.chosen(stack="", env=env, local=local, endpoint=endpoint, region=region))


def _compared(after: Stack, target: Target, file: str) -> tuple[Change, bool]:
    from stepward.cli.deploy_check.facts import AccountFacts  # noqa: PLC0415 - they import the AWS SDK
    from stepward.cli.deployment.aws import find_account  # noqa: PLC0415

    account = find_account(target)
    deployed = account.template(target.stack)
    before = after if deployed is None else Stack(deployed)
    return Change(before, after, AccountFacts(account, target), file), deployed is None


def _refused(found: Found) -> set[str]:
    return {name for name, _, allowed in found if not allowed}


def _changed(change: Change, *, new: bool) -> Mapping[str, Sequence[Any]]:
    return {} if new else {name: list(both) for name, both in change.settings.items()}


def _document(change: Change, found: Found, *, new: bool) -> Mapping[str, Any]:
    left = [] if new else draining(change)
    return {
        "stack": change.after.settings["stack"],
        "new": new,
        "settings": _changed(change, new=new),
        "draining": [{"name": it.name, "orders": it.orders, "messages": it.messages, "more": it.more} for it in left],
        "refusals": [{"question": name, "reason": reason, "allowed": allowed} for name, reason, allowed in found],
    }


def _tell(change: Change, found: Found, *, new: bool) -> None:
    stack = change.after.settings["stack"]
    changed = _changed(change, new=new)
    deployed = f"Stack {stack} is deployed; {'these settings change:' if changed else 'no setting changes.'}"
    say(f"Stack {stack} is new." if new else deployed)
    for name, (old, now) in changed.items():
        say(f"  {name}: {json.dumps(old)} -> {json.dumps(now)}")
    for left in () if new else draining(change):
        say(f"Draining {left}.")
    for name, reason, allowed in found:
        complain(f"{'Allowed' if allowed else 'Refused'} ({name}): {reason}.")
    if refused := sorted(_refused(found)):
        options = " ".join(f"--allow {name}" for name in refused)
        complain(f'Nothing was changed. If you mean it all the same, add {options} (make deploy ALLOW="{options}").')
    if refused and not set(refused) - END_BY_THEMSELVES:
        complain("To wait until nothing is left and go on then, add --drain (make deploy DRAIN=1).")
