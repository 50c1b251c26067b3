"""The rows of the calls to services without idempotency keys."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from stepward.app.optimistic import SharedValue
from stepward.domain.coordination.call_row import CallRow, Claim, Turn
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import Corrupt, StepwardError
from stepward.ports import SharedRecords


@dataclass(frozen=True, slots=True)
class CallRows:
    """A row for each effect, among the shared records; `skew_margin` is how far clocks may differ, in milliseconds."""

    shared_records: SharedRecords
    new_id: Callable[[], str]
    skew_margin: int

    def take(self, key: str, until: int, now: int, *, undoes: bool, settle: int, first: bool) -> HeldRow:
        """The row of the effect with this idempotency key, taken if it is free; raises Transient or Corrupt.

        A `first` call expects no row, and costs one write.
        """
        claim = Claim(self.new_id(), until, undoes, settle + self.skew_margin)
        value = SharedValue(self.shared_records, f"call/{key}", _row, _body)
        turn, fresh = claim.turn(None, now)
        if first and value.write(fresh):
            return HeldRow(value, claim, turn)
        before, after = value.change(lambda found: claim.turn(found, now)[1])
        turn, _ = claim.turn(before, now)
        wait = after.until + claim.settles - now if after and turn is Turn.WAIT else 0
        return HeldRow(value, claim, turn, wait)


@dataclass(frozen=True, slots=True)
class HeldRow:
    """What a row lets its caller do; `wait` is for how many milliseconds it is taken."""

    value: SharedValue[CallRow | None]
    claim: Claim
    turn: Turn
    wait: int = 0

    @property
    def asks(self) -> bool:
        """Whether a check has to be asked first."""
        return self.turn is Turn.ASK

    @property
    def has_nothing(self) -> bool:
        """Whether nothing is left to do: no effect stands that could be undone."""
        return self.turn is Turn.NOTHING and self.claim.undoes

    @property
    def may_act(self) -> bool:
        """Whether the request need not wait."""
        return self.has_nothing or self.turn in (Turn.ASK, Turn.CALL)

    def ended(self, now: int, *, known: bool = False) -> None:
        """The call has ended, or was not made although it is known to be needed; if this gets lost, others wait."""

        def decide(found: CallRow | None) -> CallRow | None:
            ours = found is not None and found.holder == self.claim.holder
            return replace(found, until=now, known=known) if found and ours else found

        with suppress(StepwardError):
            self.value.change(decide)


def _row(shared_record: SharedRecord | None) -> CallRow | None:
    if shared_record is None:
        return None
    try:
        return CallRow.of(shared_record.body)
    except (KeyError, TypeError, ValueError) as error:
        raise Corrupt(f"{shared_record.name}: {error!r}") from error


def _body(row: CallRow | None) -> dict[str, object]:
    return row.body() if row else {}
