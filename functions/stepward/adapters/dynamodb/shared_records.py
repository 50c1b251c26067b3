"""The shared records on DynamoDB, one item each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stepward.adapters.dynamodb.failures import translated
from stepward.adapters.dynamodb.tables import SharedRecordItem, find, whole
from stepward.adapters.dynamodb.writes import is_own, put_if
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import Corrupt, Rejected
from stepward.wire.strict_json import canonical, parse


@dataclass(frozen=True, slots=True)
class DynamoSharedRecords:
    """The table of shared records; `new_id` gives a unique id for each write."""

    table: type[SharedRecordItem]
    new_id: Callable[[], str]

    def read(self, name: str) -> SharedRecord | None:
        """The record under this name; see the port."""
        try:
            item = self._find(name)
            return None if item is None else _shared_record(item)
        except (AttributeError, TypeError, ValueError) as error:
            raise Corrupt(f"shared record {name}: {error}") from error

    def write(self, shared_record: SharedRecord, *, replaces: SharedRecord | None) -> bool:
        """Put the item if it is still at the revision that was read, or absent; see the port."""
        write_id = self.new_id()
        absent = SharedRecordItem.name.does_not_exist()
        unchanged = absent if replaces is None else SharedRecordItem.revision == replaces.revision
        body = canonical(shared_record.body)
        item = self.table(shared_record.name, revision=shared_record.revision, write_id=write_id, body=body)
        written = put_if(item, unchanged, f"write shared record {shared_record.name}")
        return written or is_own(self._find(shared_record.name), write_id)

    def _find(self, name: str) -> SharedRecordItem | None:
        with translated(f"read shared record {name}"):
            return find(self.table, name)


def _shared_record(item: SharedRecordItem) -> SharedRecord:
    try:
        body = parse(item.body)
    except Rejected as error:
        raise Corrupt(f"shared record {item.name}: {error}") from error
    if not isinstance(body, dict):
        raise Corrupt(f"shared record {item.name}: its body is not an object")
    return SharedRecord(item.name, whole(item.revision), body)
