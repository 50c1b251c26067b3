"""The small records that all instances share, one item each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepward.adapters.dynamodb.failures import translated
from stepward.adapters.dynamodb.tables import ControlItem, find, whole
from stepward.adapters.dynamodb.writes import is_own, put_if
from stepward.domain.coordination.shared_record import Control
from stepward.domain.errors import Rejected, Unreadable
from stepward.wire.strict_json import canonical, parse


@dataclass(frozen=True, slots=True)
class DynamoControls:
    """The controls table; `new_id` gives a unique id for each write."""

    table: type[ControlItem]
    new_id: Callable[[], str]

    def read(self, name: str) -> Control | None:
        """The record under this name; see the port."""
        try:
            item = self._find(name)
            return None if item is None else _control(item)
        except (AttributeError, TypeError, ValueError) as error:
            raise Unreadable(f"control {name}: {error}") from error

    def write(self, control: Control, *, replaces: Control | None) -> bool:
        """Put the item if it is still at the revision that was read, or absent; see the port."""
        write_id = self.new_id()
        absent = ControlItem.name.does_not_exist()
        unchanged = absent if replaces is None else ControlItem.revision == replaces.revision
        body = canonical(control.body)
        item = self.table(control.name, revision=control.revision, write_id=write_id, body=body)
        written = put_if(item, unchanged, f"write control {control.name}")
        return written or is_own(self._find(control.name), write_id)

    def _find(self, name: str) -> ControlItem | None:
        with translated(f"read control {name}"):
            return find(self.table, name)


def _control(item: ControlItem) -> Control:
    try:
        body = parse(item.body)
    except Rejected as error:
        raise Unreadable(f"control {item.name}: {error}") from error
    if not isinstance(body, dict):
        raise Unreadable(f"control {item.name}: its body is not an object")
    return Control(item.name, whole(item.revision), body)
