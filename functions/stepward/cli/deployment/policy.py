"""`stepward policy`: the IAM policy of who looks, who operates, or who mends."""

from __future__ import annotations

from typing import Annotated

import typer

from stepward.cli.deployment.options import Target
from stepward.cli.terminal import print_json
from stepward.operator.rights.policies import Policy, document
from stepward.stack_outputs import Deployment

Whose = Annotated[Policy, typer.Argument(help="For whom it is.", show_default=False)]


def policy(target: Target, whose: Whose) -> None:
    """Print the IAM policy that one person needs for this stack, as JSON.

    look: see orders, lanes, agents, rejects and how many dead letters there are, and change nothing · operate: also
    resubmit, undo, cancel, pause, resume and signal orders, and retry, replace and skip in lanes · mend: also pause and
    resume agents, read and redrive dead letters, and read the whole state store (`list`, `--scan`).

    Example: stepward policy look --env prod > look.json

    JSON: the policy document that `aws iam create-policy --policy-document file://look.json` takes.
    """
    # The AWS SDK takes most of a second to import, and `--help` does not need it.
    from stepward.cli.deployment.aws import find_account  # noqa: PLC0415

    parts = Deployment.from_outputs(find_account(target).outputs(target.stack))
    print_json(document(whose, target.stack, parts))
