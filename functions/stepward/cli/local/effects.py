"""`stepward local effects`: what the stand-ins of the remote services did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from time import time_ns
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stepward.cli.deployment.options import AsJson, reports_errors
from stepward.cli.local.addresses import stand_ins
from stepward.cli.terminal import OUT, cell, day_and_time, print_json, say, table
from stepward.domain.key import TaskKey, in_idempotency_key

if TYPE_CHECKING:
    from stepward.local.services import Effect, Ledger

Order = Annotated[str, typer.Argument(help="The order.", show_default="all of them")]


@reports_errors
def effects(order: Order = "", *, as_json: AsJson = False) -> None:
    """List what the stand-ins of the remote services did, the oldest first, and how often each was called for it.

    A call that comes again under the same idempotency key is counted, and has no second effect.

    JSON: effects (list of: at, service, operation, order, key, undo_of (the key that an undo undoes), undid (null: it
    is no undo; false: there was nothing to undo), fence, calls).

    Example: stepward local effects ord-7
    """
    with closing(_ledger()) as ledger:
        found = _of(ledger, order)
    if as_json:
        print_json({"effects": found})
    elif found:
        rows = table("at", "service", "operation", "key", "calls", least=["at", "service"])
        for each in found:
            vain = " (nothing to undo)" if each["undid"] is False else ""
            texts = (day_and_time(each["at"]), each["service"], each["operation"] + vain, each["key"], each["calls"])
            rows.add_row(*(cell(str(text)) for text in texts))
        OUT.print(rows)
    else:
        say(f"The stand-ins have done nothing{f' for order {order}' if order else ''}.")


def _of(ledger: Ledger, order: str) -> Sequence[Mapping[str, Any]]:
    calls = Counter((entry.service, entry.key) for entry in ledger.entries())
    return [_row(each, calls[each.service, each.key]) for each in ledger.effects() if _concerns(each, order)]


def _row(effect: Effect, calls: int) -> Mapping[str, Any]:
    undid = effect.undid if effect.undo_of else None
    return {**asdict(effect), "undid": undid, "order": in_idempotency_key(effect.key)[0], "calls": calls}


def _concerns(effect: Effect, order: str) -> bool:
    key = in_idempotency_key(effect.key)[0]
    return order in {"", key, TaskKey.read(key).order_id}


def _ledger() -> Ledger:
    from stepward.local.services import Ledger  # noqa: PLC0415 - `--help` must not import it

    services, _ = stand_ins()
    return Ledger(services.ledger, lambda: time_ns() // 1_000_000)
