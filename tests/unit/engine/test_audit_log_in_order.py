"""The audit trail is told in the order in which things happened, whoever died before they were kept."""

import pytest

from stepward.app.scheduler.audit_log import AuditLog
from stepward.domain.coordination.shared_record import SharedRecord
from stepward.domain.errors import Transient
from stepward.domain.messages import Pause, Resume
from stepward.testing.memory.shared_records import MemorySharedRecords
from stepward.wire.messages import encode
from tests.factories import ORDER_ID, SECOND, T0
from tests.unit.engine.world import World


class LosesFirst(MemorySharedRecords):
    """The first write is lost."""

    def write(self, shared_record: SharedRecord, *, replaces: SharedRecord | None) -> bool:
        if not self.writes:
            self.writes += 1
            raise Transient("throttled")
        return MemorySharedRecords.write(self, shared_record, replaces=replaces)


def test_a_command_that_is_kept_late_stands_where_it_happened(world: World) -> None:
    """S22: the pause was applied, its message comes again only after the resumption."""
    world.ask()
    world.shared_records = LosesFirst()
    pause = encode(Pause(ORDER_ID, "ada", "stock is being counted", asked_at=T0))
    with pytest.raises(Transient):
        world.schedule().handle(pause)
    world.clock.now += SECOND
    world.schedule().handle(encode(Resume(ORDER_ID, "ada", "counted", asked_at=T0 + SECOND)))
    world.clock.now += SECOND

    world.schedule().handle(pause)

    entries = AuditLog(world.shared_records).of(ORDER_ID)
    assert [(entry.command, entry.applied) for entry in entries] == [("pause", True), ("resume", True)]
