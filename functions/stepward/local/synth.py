"""Runs the CDK application like the `cdk` command, but without that command."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from stepward.domain.errors import Misconfigured

SYNTH_WITHIN_S = 300


def check_installed() -> None:
    """Raise Misconfigured if this installation lacks the CDK."""
    if find_spec("aws_cdk") is None:
        use = "use the project's own, .venv/bin/stepward (`make` installs it)"
        raise Misconfigured(f"{sys.prefix} lacks the CDK; {use}, or install it: pip install 'stepward[local]'")


def synthesise(root: Path, out: Path, context: Mapping[str, object], *, app: str = "infra/app.py") -> str:
    """Write the cloud assembly of the script `app` in `root` to `out`; what it told people.

    `context` extends that of `root`/cdk.json. Raises Misconfigured with what the application said.
    """
    check_installed()
    run = subprocess.run(  # noqa: S603 -- our own interpreter, the project's own script
        [sys.executable, str(root / app)],
        cwd=root,
        env=_environment(root, out, context),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SYNTH_WITHIN_S,
        check=False,
    )
    if run.returncode:
        raise Misconfigured(run.stderr.strip()[-4000:] or f"{app} ended with {run.returncode}, and said nothing")
    return run.stderr


def notices(told: str, context: Mapping[str, object]) -> str:
    """What synthesis told, without how `context`, which no person gave, differs from the environment's file."""
    return "\n".join(line for line in told.splitlines() if line.partition("=")[0] not in context)


def _environment(root: Path, out: Path, context: Mapping[str, object]) -> dict[str, str]:
    return os.environ | {
        "CDK_OUTDIR": str(out.absolute()),
        "CDK_CONTEXT_JSON": json.dumps(_usual(root) | dict(context)),
    }


def _usual(root: Path) -> dict[str, object]:
    # cdk.json holds feature flags; without them the template would differ from that of `cdk deploy`.
    if not (settings := root / "cdk.json").exists():
        return {}
    return dict(json.loads(settings.read_text()).get("context", {}))


def main() -> None:
    """Synthesise into `cdk.out` with the options of `cdk deploy`; it has no use for others than `-c NAME=VALUE`."""
    parser = argparse.ArgumentParser(prog="python -m stepward.local.synth", description=main.__doc__)
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE", type=_setting)
    options, others = parser.parse_known_args()
    if others:
        sys.stderr.write(f"Left out, since synthesis has no use for it: {shlex.join(others)}\n")
    named = dict(options.context)
    sys.stderr.write(f"Synthesising the stack{' of ' * ('env' in named)}{named.get('env', '')}\n")
    try:
        sys.stderr.write(synthesise(Path.cwd(), Path("cdk.out"), named))
        sys.stderr.write("Its template and the functions' code are in cdk.out.\n")
    except Misconfigured as error:
        sys.exit(str(error))


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


if __name__ == "__main__":
    main()
