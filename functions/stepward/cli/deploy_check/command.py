"""`stepward deploy-check`: what stands between a change and its deployment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from stepward.cli.deploy_check.change import Change, Stack
from stepward.cli.deploy_check.questions import QUESTIONS, refusals
from stepward.cli.deployment.options import AsJson, Endpoint, Env, Local, Target, reports_errors
from stepward.cli.terminal import complain, print_json, say
from stepward.project import ENVIRONMENT, Project

Context = Annotated[list[str], typer.Option("--context", "-c", help="A setting for this run only, as NAME=VALUE.")]
Allow = Annotated[list[str], typer.Option("--allow", help=f"Pass over a refusal: {', '.join(QUESTIONS)}.")]
CdkOptions = Annotated[list[str], typer.Argument(help="Options of `cdk deploy`; those of CDK alone are passed over.")]


@reports_errors
def deploy_check(
    cdk_options: CdkOptions = [],  # noqa: B006 - Typer copies it
    *,
    env: Env,
    context: Context = [],  # noqa: B006
    allow: Allow = [],  # noqa: B006
    local: Local = False,
    endpoint: Endpoint = "",
    as_json: AsJson = False,
) -> None:
    """Synthesise the stack, compare it with the deployed one, and refuse what would strand work or lose data.

    It changes nothing. `make deploy` runs it first; in a project of your own, run it before `cdk deploy`.

    Example: stepward deploy-check --env prod && cdk deploy -c env=prod

    JSON: stack, new (whether none is deployed), settings (NAME: [deployed, new] for each that differs), refusals
    (question, reason, allowed).
    """
    if "--profile" in cdk_options[:-1]:
        os.environ["AWS_PROFILE"] = cdk_options[cdk_options.index("--profile") + 1]
    if unknown := set(allow) - set(QUESTIONS):
        raise typer.BadParameter(f"--allow {', '.join(sorted(unknown))}: choose from {', '.join(QUESTIONS)}")
    given = dict(option.partition("=")[::2] for option in context)
    after = _synthesised({**given, ENVIRONMENT: env, **({"platform": "local"} if local else {})})
    target = Target(after.settings["stack"], local, endpoint, after.settings["region"])
    change, new = _compared(after, target, f"infra/environments/{env}.toml")
    found = [(name, reason, name in allow) for name, reason in refusals(change, new=new)]
    if as_json:
        listed = [{"question": name, "reason": reason, "allowed": allowed} for name, reason, allowed in found]
        print_json({"stack": target.stack, "new": new, "settings": _changed(change, new=new), "refusals": listed})
    else:
        _tell(target.stack, change, found, new=new)
    if any(not allowed for _, _, allowed in found):
        raise typer.Exit(1)


def _synthesised(context: Mapping[str, object]) -> Stack:
    from stepward.local.cloud_assembly import Assembly  # noqa: PLC0415 - `--help` must not import these
    from stepward.local.synth import synthesise  # noqa: PLC0415

    with TemporaryDirectory(prefix="stepward-") as scratch:
        out = Path(scratch) / "cdk.out"
        if told := synthesise(Project.here().root, out, context).strip():
            complain(told)
        return Stack(json.loads(Assembly(out, str).template))


def _compared(after: Stack, target: Target, file: str) -> tuple[Change, bool]:
    from stepward.cli.deploy_check.facts import AccountFacts  # noqa: PLC0415 - they import the AWS SDK
    from stepward.cli.deployment.aws import find_account  # noqa: PLC0415

    account = find_account(target)
    deployed = account.template(target.stack)
    before = after if deployed is None else Stack(deployed)
    return Change(before, after, AccountFacts(account, target), file), deployed is None


def _changed(change: Change, *, new: bool) -> Mapping[str, Sequence[Any]]:
    return {} if new else {name: list(both) for name, both in change.settings.items()}


def _tell(stack: str, change: Change, found: Sequence[tuple[str, str, bool]], *, new: bool) -> None:
    say(f"Stack {stack} is new." if new else f"Stack {stack} is deployed; these settings change:")
    for name, (old, now) in _changed(change, new=new).items():
        say(f"  {name}: {json.dumps(old)} -> {json.dumps(now)}")
    if not (new or change.settings):
        say("  none")
    for name, reason, allowed in found:
        complain(f"{'Allowed' if allowed else 'Refused'} ({name}): {reason}.")
    if refused := sorted({name for name, _, allowed in found if not allowed}):
        options = " ".join(f"--allow {name}" for name in refused)
        complain(f'Nothing was changed. If you mean it all the same, add {options} (make deploy ALLOW="{options}").')
