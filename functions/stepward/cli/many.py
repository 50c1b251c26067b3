"""A command for all orders, or lanes, that match `--where`: its options, its dry run, its progress and its report."""

from __future__ import annotations

import inspect
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from time import sleep  # noqa: TID251 -- a command on a person's machine keeps the rate by waiting
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from stepward.cli.deployment.connection import connect
from stepward.cli.deployment.options import Target
from stepward.cli.terminal import ERR, OUT, cell, complain, day_and_time, moment, print_json, say, span, table
from stepward.domain.key import named
from stepward.operator.bulk import Bulk, DryRun, End, Ended, Pace, Subjects, dry_run, run
from stepward.operator.bulk import Progress as Far
from stepward.operator.connection import Connection
from stepward.operator.filters import Filter
from stepward.wire.checked_text import cleaned

Where = Annotated[
    str,
    typer.Option(
        metavar="CONDITIONS",
        help="All that match, instead of one: step=charge reason~declined since=2h workflow=returns id^ord-1.",
        show_default=False,
        rich_help_panel="Many at once",
    ),
]
Rate = Annotated[float, typer.Option(min=0.1, max=1000, help="How many a second.", rich_help_panel="Many at once")]
DryRunOnly = Annotated[
    bool, typer.Option("--dry-run", help="Say how many, which and why; do nothing.", rich_help_panel="Many at once")
]
Name = Annotated[
    str,
    typer.Option(
        "--name",
        help="The name of the bulk, for the audit logs.",
        show_default="a new one",
        rich_help_panel="Many at once",
    ),
]
OrderOrNone = Annotated[str, typer.Argument(metavar="ORDER", help="The order's id.", show_default=False)]
MOST_SHOWN, LONGEST_NAME = 20, 80


@dataclass(frozen=True, slots=True)
class Many:
    """What `--where` and its companions say, and how the command's subjects are made of a bulk."""

    target: Target
    command: str
    where: str
    rate: float
    name: str
    is_dry: bool
    as_json: bool

    def give(self, bulk: Callable[[str], Bulk], subjects: Callable[[Connection, Bulk], Subjects]) -> None:
        """Do it, or say what would be done; exits with 1 if not all of it came out well."""
        connection = connect(self.target)
        wish = Filter.parse(self.where, now=connection.now())
        named_bulk = bulk(bulk_name(self.name, self.command, connection))
        found = subjects(connection, named_bulk)
        if self.is_dry:
            self._would(dry_run(found, wish), connection)
            return
        with stoppable() as is_stopped, progress(self.command, visible=not self.as_json) as tell:
            ended = run(found, wish, Pace(self.rate, tell, is_stopped, connection.now, sleep))
        self._report(ended, named_bulk.name, connection)
        if not all(each.is_good for each in ended):
            raise typer.Exit(1)

    def _would(self, found: DryRun, connection: Connection) -> None:
        if self.as_json:
            oldest = found.oldest
            about = named(oldest.key, connection.deployment.keys.default) | {"since": oldest.since} if oldest else None
            document = {"count": found.count, "kinds": found.kinds, "reasons": found.reasons, "oldest": about}
            print_json(document | {"refused": found.refused, "held": found.held, "corrupt": found.corrupt})
            return
        say(f"{found.count} would get the command to {self.command}; nothing was sent.")
        for title, counted in (
            ("Which", found.kinds),
            ("Why they wait", found.reasons),
            ("Held back for now", found.held),
            ("Would be refused", found.refused),
        ):
            _print_counted(title, counted)
        for corrupt in found.corrupt:
            complain(f"cannot be read: {corrupt}")
        if found.oldest:
            waits = span(max(0, connection.now() - found.oldest.since))
            say(f"The oldest: {found.oldest.key}, for {waits}, since {day_and_time(found.oldest.since)}.")
            say(
                f"At {self.rate:g} a second it takes {span(round(1000 * found.count / self.rate))}. To do it, give the "
                "command without --dry-run."
            )

    def _report(self, ended: Sequence[Ended], name: str, connection: Connection) -> None:
        ends = Counter(each.end for each in ended)
        bad = [each for each in ended if not each.is_good]
        failed = sum(each.end is End.APPLIED for each in bad)
        if self.as_json:
            orders: list[dict[str, Any]] = [
                dict(named(each.key, connection.deployment.keys.default))
                | {"outcome": each.end, "text": each.text or None, "state": each.state, "good": each.is_good}
                for each in ended
            ]
            counts = {end.value: ends[end] for end in End} | {"failedAgain": failed}
            print_json({"command": self.command, "name": name, "count": len(ended), **counts, "orders": orders})
            return
        if not ended:
            say(f"Nothing matches {self.where!r}.")
            return
        if bad:
            rows = table("Order", "Outcome", "State", "Why", least=["State"])
            for each in bad[:MOST_SHOWN]:
                rows.add_row(cell(each.key), each.end, cell(each.state), cell(each.text))
            OUT.print(rows)
        counts_said = ", ".join(f"{ends[end]} {end}" for end in End if ends[end])
        again = f"; {failed} of those applied {'is' if failed == 1 else 'are'} in Error now" * bool(failed)
        say(f"Bulk {name}: {counts_said}{again}.")
        if ends[End.HELD] or ends[End.LEFT]:
            say("Held back and left: give the same command again, and it goes on with them.")
        first = (bad or ended)[0].key
        looks = ("convoy", "show", first) if self.command == "retry" else ("show", first)
        say(f"To see one: {self.target.typed(*looks)}")


Give = Callable[..., None]


def bulk_name(given: str, command: str, connection: Connection) -> str:
    """The name that was given, or a new one."""
    return cleaned(given.strip(), LONGEST_NAME) or f"{command}-{moment(connection.now()):%Y%m%dT%H%M%S}"


def for_many(one: Callable[..., None], many: Give) -> Callable[..., None]:
    """The command `one` for an order, or `many` with --where, which gets a Many and the command's own options."""

    @wraps(one)
    def command(
        target: Target,
        order: str = "",
        *,
        where: str = "",
        rate: float = 10,
        dry_run: bool = False,
        bulk_name: str = "",
        **given: Any,
    ) -> None:
        if where:
            if target.customer or target.workflow:
                raise typer.BadParameter("write customer= and workflow= in --where", param_hint="--where")
            asked = Many(target, one.__name__, where, rate, bulk_name, dry_run, given["as_json"])
            many(asked, order, **given)
        elif dry_run or bulk_name:
            raise typer.BadParameter("--dry-run and --name are for --where", param_hint="--where")
        elif not order and not given.get("agent"):
            agent = ", or an agent by --agent" if "agent" in given else ""
            raise typer.BadParameter(f"name an order, or all that match by --where{agent}")
        else:
            one(target, order, **given)

    own = inspect.signature(one, eval_str=True).parameters
    added = inspect.signature(_options, eval_str=True).parameters
    changed = {**own, "order": own["order"].replace(annotation=OrderOrNone, default="")}
    if "why" in own:  # a dry run needs none; whoever gives the command asks for it
        changed["why"] = own["why"].replace(default="")
    kinds = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*changed.values(), *added.values())]
    command.__dict__["__signature__"] = inspect.Signature(kinds)
    return command


def _options(*, where: Where = "", rate: Rate = 10, dry_run: DryRunOnly = False, bulk_name: Name = "") -> None: ...


def _print_counted(title: str, counted: Any) -> None:
    if counted:
        rows = table("Count", title)
        for text, count in list(counted.items())[:MOST_SHOWN]:
            rows.add_row(f"{count:,}", cell(text))
        OUT.print(rows)


@contextmanager
def stoppable(awaited: str = "what was asked is awaited no longer, and ") -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed; pressed again, it ends the process. It says what becomes of what is `awaited`."""
    pressed: list[int] = []

    def press(number: int, _frame: object) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(number)
        complain(f"stopping: {awaited}the rest is left; Ctrl-C once more stops at once")

    before = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def progress(command: str, *, visible: bool) -> Iterator[Callable[[Far], object]]:
    """A bar on a terminal, and what moves it; says at a KeyboardInterrupt how many were sent by then."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    told: list[Far] = []

    def tell(now: Far) -> None:
        told[:] = [now]
        bar.update(task, total=now.total, completed=now.sent + now.others)

    with Progress(*columns, console=ERR, disable=not (visible and ERR.is_terminal)) as bar:
        task = bar.add_task(command, total=None)
        try:
            yield tell
        except KeyboardInterrupt:
            far = f"{told[0].sent} of {told[0].total}" if told else "none"
            complain(f"stopped at once: {far} were sent; to go on with the rest, give the same command again")
            raise
