import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner, Result

from orders import app as application
from stepward.adapters.alerts.event_bus import detail, detail_type
from stepward.cli.main import app
from stepward.cli.schemas.messages import RECEIVED, StatusNotice, schemas
from stepward.domain.convoy.lane import Alerted
from stepward.domain.deployment import Deployment
from stepward.domain.messages import AgentDefect, Alert, LaneWaits, Notice, ReportReject, StepFailed, StepWaits
from stepward.domain.messages.notices import Status
from stepward.wire.notices import encode_notice, encode_reject

ALERTS: list[Alert] = [
    StepFailed("ord-1", "charge", 1, "declined", 7),
    StepFailed("ord-1", "charge/undo", 1, "declined", 7, ("charge",)),
    StepWaits("ord-1", "charge", 1, "no such operation", 7, signal=True),
    AgentDefect("payments", "charge", "KeyError", "bank.py:7", "KeyError", 3, 6, 7),
    *(LaneWaits("ord-1", "3", trouble, "is missing", 7) for trouble in Alerted if trouble is not Alerted.NOTHING),
]


def asked(*words: str) -> Result:
    return CliRunner().invoke(app, ["schema", *words])


def test_it_lists_the_types_and_prints_the_schema_of_one() -> None:
    assert asked().stdout.split("\n")[:2] == ["order.submitted", "return.requested"]
    assert json.loads(asked("order.submitted").stdout) == schemas(application)["order.submitted"]
    assert (asked("order").exit_code, asked("--app", "nowhere:app").exit_code) == (2, 2)
    assert "no message 'order'" in asked("order").stderr


def test_a_schema_names_its_type_and_has_patterns_that_every_language_reads() -> None:
    """U4: submitters can check their messages, in whichever language they are written."""
    order = schemas(application)["order.submitted"]
    fields = order["$defs"][order["$ref"].rpartition("/")[2]]["properties"]

    assert fields["type"] == {"const": "order.submitted"}
    assert fields["orderId"]["pattern"].startswith("^[A-Za-z0-9]")
    assert not any("\\\\A" in json.dumps(each) for each in schemas(application).values())


@pytest.mark.parametrize("alert", ALERTS, ids=detail_type)
def test_the_detail_of_each_alert_has_the_published_fields_and_no_others(alert: Any) -> None:
    sent = json.loads(detail(alert, Deployment(stack="shop", workflow="fulfilment")))
    has_no_other_fields(sent, RECEIVED[detail_type(alert)])


def test_each_alert_is_published() -> None:
    assert {kind for kind in RECEIVED if kind.startswith("stepward.")} == {detail_type(each) for each in ALERTS}


@pytest.mark.parametrize("status", Status)
def test_each_notice_has_the_published_fields_and_no_others(status: Status) -> None:
    has_no_other_fields(
        json.loads(encode_notice(Notice("ord-1", "", "", status, "charge", 4, 7), "fulfilment")), StatusNotice
    )


def test_a_notice_of_a_reject_has_the_published_fields_and_no_others() -> None:
    notice = ReportReject("ord-1", "", "", "r", "orderId: is missing", 7)
    has_no_other_fields(json.loads(encode_reject(notice)), RECEIVED["order.rejected"])


def has_no_other_fields(sent: Mapping[str, object], form: type[msgspec.Struct]) -> None:
    msgspec.convert(sent, form)
    assert set(sent) <= set(form.__struct_encode_fields__)
