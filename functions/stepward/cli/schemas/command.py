"""`stepward schema`: the JSON Schema of a message."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from stepward.cli.deployment.options import Named, application
from stepward.cli.schemas.messages import schemas
from stepward.cli.terminal import complain, say, typed

Kind = Annotated[str, typer.Argument(help="The message's type.", show_default="list the types")]


def schema(kind: Kind = "", *, app: Named = "") -> None:
    """Print the JSON Schema of a message that your application takes or sends.

    The command reads your code and uses no AWS account. A submitter can check its messages with the schema before it
    sends them. What a schema cannot say, such as a limit on all bytes, is checked on arrival.

    Example: stepward schema order.submitted
    """
    known = schemas(application(app))
    if kind and kind not in known:
        complain(f"no message {kind!r}; to list the types: {typed('schema')}")
        raise typer.Exit(2)
    say(json.dumps(known[kind], indent=2, ensure_ascii=False) if kind else "\n".join(known))
