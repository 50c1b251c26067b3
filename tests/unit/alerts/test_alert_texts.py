"""What a person reads when a step has failed, or when the lane of an order waits."""

import string
from dataclasses import replace

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws

from stepward.adapters.alerts.sns import SnsTopic, attributes
from stepward.adapters.alerts.step_texts import subject, summary, summary_subject, text
from stepward.domain.convoy.lane import Alerted
from stepward.domain.deployment import Deployment
from stepward.domain.errors import Misconfigured
from stepward.domain.messages import AgentDefect, Alert, LaneWaits, StepFailed, StepWaits, TaskAlert

FAILED = StepFailed("ord-1", "charge", 3, "card declined", 1_000_000)
WAITS = StepWaits("ord-5", "screen", 2, "agent payments does not know operation screen; deploy it", 1_000_000)
BLOCKED = LaneWaits("ord-1", "5", Alerted.BLOCKED, "modifies: 2 is no earlier create or add", 1_000_000)
GAP = LaneWaits("ord-2", "3", Alerted.GAP, "event 3 has not come, and 7 has", 1_000_000)
IDLE = LaneWaits("ord-3", "9", Alerted.IDLE, "nothing has come after event 8", 1_000_000)
DEFECT = AgentDefect(
    "shipping", "ship", "KeyError", "fulfilment.py:53 ship", "KeyError: 'x'", 3, 1_800_000_000_000, 1_800_000_060_000
)
ANY = st.text(st.characters())
OF_STEPS = st.sampled_from([StepFailed, StepWaits])
ALERTS = OF_STEPS.flatmap(lambda kind: st.builds(kind, ANY, st.text(), st.integers(), ANY, st.integers())) | st.builds(
    LaneWaits, ANY, st.just("1"), st.sampled_from([Alerted.BLOCKED, Alerted.GAP, Alerted.IDLE]), ANY, st.just(0)
)


def test_the_text_says_what_failed_why_and_what_to_type_next() -> None:
    """S7."""
    assert text(FAILED) == (
        "Step charge of order ord-1 ended in Error at attempt 3.\n\n"
        "Why: card declined\n\n"
        "The order waits until you act. Look at it:\n"
        "  stepward show ord-1\n"
        "Fix the cause, then run the step again:\n"
        '  stepward resubmit ord-1 charge --why "..."\n'
    )


def test_the_text_about_a_step_that_never_began_says_so() -> None:
    """S24: the order's complete-by passed before it."""
    assert text(replace(FAILED, attempt=0)).startswith("Step charge of order ord-1 ended in Error before it began.\n")


def test_the_text_of_a_step_that_waits_for_a_deployment_names_what_to_deploy() -> None:
    """D1: nothing has to be typed afterwards."""
    assert text(WAITS) == (
        "Step screen of order ord-5 waits for a deployment.\n\n"
        "Why: agent payments does not know operation screen; deploy it\n\n"
        "It goes on without a command once that is deployed; no attempt is counted until then.\n"
        "Look at it:\n"
        "  stepward show ord-5\n"
    )
    assert subject(WAITS) == "Stepward: step screen waits for a deployment, order ord-5"


def test_the_text_of_a_reminder_names_the_commands_that_answer() -> None:
    """W2: the same in a summary, beside what waits for a deployment."""
    reminder = StepWaits("ord-6", "approval", 1, "nobody gave the signal 'approval' yet", 1_000_000, signal=True)
    answer = (
        "Answer, or refuse:\n"
        "  stepward signal ord-6 approval --data '{...}'\n"
        '  stepward signal ord-6 approval --refuse "..."\n'
    )
    assert text(reminder) == (
        "Step approval of order ord-6 waits for its signal.\n\n"
        "Why: nobody gave the signal 'approval' yet\n\n"
        f"Look at it:\n  stepward show ord-6\n{answer}"
    )
    assert subject(reminder) == "Stepward: step approval waits for its signal, order ord-6"
    assert answer in summary([reminder, WAITS])
    assert summary_subject([reminder, WAITS]) == "Stepward: 1 order waits for a signal, 1 order waits for a deployment"
    assert summary([WAITS, replace(WAITS, order_id="ord-6")]) == (
        "2 orders wait for a deployment:\n\n"
        "  screen 2 times: agent payments does not know operation screen; deploy it\n\n"
        "Their ids: ord-5, ord-6\n\n"
        "They go on without a command once that is deployed; no attempt is counted until then.\n"
        "List them:\n"
        "  stepward list --needs-attention\n"
    )


def test_the_text_of_a_failed_undo_names_the_remaining_effects() -> None:
    """S17: and how to go on from the compensation that failed."""
    alert = StepFailed("ord-1", "charge/undo", 3, "refund window closed", 1_000_000, ("charge", "reserve"))
    assert text(alert) == (
        "The undo of order ord-1 failed: charge/undo ended in Error at attempt 3.\n\n"
        "Remaining effects: charge, reserve\n\n"
        "Why: refund window closed\n\n"
        "The order waits until you act. Look at it:\n"
        "  stepward show ord-1\n"
        "Fix the cause, then run the undo again:\n"
        '  stepward resubmit ord-1 charge/undo --why "..."\n'
    )
    assert subject(alert) == "Stepward: undo charge/undo failed, order ord-1"


def test_the_text_of_a_blocked_lane_says_why_what_waits_and_what_to_type() -> None:
    """C6."""
    assert text(BLOCKED) == (
        "Event 5 of order ord-1 could not be applied; the order's lane has stopped.\n\n"
        "Why: modifies: 2 is no earlier create or add\n\n"
        "Later events of this order wait behind it, in order. Other orders go on. Look at it:\n"
        "  stepward convoy show ord-1\n"
        "Fix the cause, then try the event again:\n"
        '  stepward convoy retry ord-1 --why "..."\n'
        "Or replace it with a corrected event, or skip it:\n"
        '  stepward convoy replace ord-1 5 FILE --why "..."\n'
        '  stepward convoy skip ord-1 5 --why "..."\n'
    )
    assert subject(BLOCKED) == "Stepward: event 5 stops the lane, order ord-1"
    assert 'stepward convoy skip ord-1 u2 --why "..."' in text(replace(BLOCKED, event="u2"))


def test_the_text_of_a_gap_says_that_the_missing_event_is_enough() -> None:
    """C5."""
    assert text(GAP) == (
        "Event 3 of order ord-2 is missing; later ones wait for it.\n\n"
        "Why: event 3 has not come, and 7 has\n\n"
        "No event behind a gap is ever applied. Look at it:\n"
        "  stepward convoy show ord-2\n"
        "Have its source send the event again; the lane then goes on by itself.\n"
        "If it will never come, supply it yourself, or skip it:\n"
        '  stepward convoy replace ord-2 3 FILE --why "..."\n'
        '  stepward convoy skip ord-2 3 --why "..."\n'
    )
    assert subject(GAP) == "Stepward: event 3 is missing, order ord-2"


def test_an_idle_lane_offers_nothing_that_changes_it() -> None:
    """C5: there is nothing to retry or to skip."""
    assert "stepward convoy show ord-3\n" in text(IDLE)
    assert not any(word in text(IDLE) for word in ("retry", "skip", "replace"))
    assert subject(IDLE) == "Stepward: no last event yet, order ord-3"


def test_a_summary_counts_the_steps_and_says_what_to_type_next() -> None:
    """S7: one message for 4,000 orders."""
    steps = ["charge"] * 3_812 + ["ship"] * 188
    alerts = [StepFailed(f"ord-{n}", step, 3, "503" if n else "504", 0) for n, step in enumerate(steps)]
    assert summary(alerts) == (
        "4,000 orders ended in Error:\n\n"
        "  charge 3,812 times: 503 (and 1 other reason)\n"
        "  ship 188 times: 503\n\n"
        f"The first of them: {', '.join(f'ord-{n}' for n in range(20))}\n\n"
        "The orders wait until you act. List them, and look at one:\n"
        "  stepward list --needs-attention\n"
        "  stepward show ord-0\n"
        "Fix the cause, then run the step again, for each order:\n"
        '  stepward resubmit ord-0 charge --why "..."\n'
    )
    assert summary_subject(alerts) == "Stepward: 4,000 orders ended in Error"


def test_a_summary_of_lanes_counts_their_troubles() -> None:
    """C6: one message for many orders."""
    lanes = [LaneWaits(f"ord-{n}", str(n), Alerted.BLOCKED, "no such item", 0) for n in range(30)]
    assert summary([*lanes, GAP]) == (
        "30 orders wait in their lanes:\n\n"
        "  blocked 30 times: no such item\n"
        "  gap 1 times: event 3 has not come, and 7 has\n\n"
        f"The first of them: {', '.join(f'ord-{n}' for n in range(20))}\n\n"
        "Their later events wait, in order, until you act. List the lanes and look at one; it shows what to type:\n"
        "  stepward convoy list\n"
        "  stepward convoy show ord-0\n"
    )
    assert summary_subject([IDLE]) == "Stepward: 1 order waits in its lane"


def test_a_summary_of_steps_and_lanes_keeps_them_apart() -> None:
    """S7 and C6: for each kind, what to type about it."""
    both: list[Alert] = [BLOCKED, replace(FAILED, order_id="ord-4"), GAP]
    steps, lanes = summary(both).split("2 orders wait in their lanes:")
    assert steps.startswith("1 order ended in Error:\n\n  charge 1 times: card declined\n")
    assert "stepward resubmit ord-4 charge" in steps
    assert "convoy" not in steps
    assert "stepward convoy show ord-1" in lanes
    assert "ord-4" not in lanes
    assert summary_subject(both) == "Stepward: 1 order ended in Error, 2 orders wait in their lanes"


def test_a_summary_of_many_steps_is_cut() -> None:
    message = summary([StepFailed("o" * 128 + str(n), f"step-{n}", 3, "no" * 1_000, 0) for n in range(500)])
    assert "and 480 other steps\n" in message
    assert len(message.encode()) < 256 * 1024


@given(ALERTS)
def test_the_subject_is_one_line_of_ascii_that_sns_takes(alert: Alert) -> None:
    both: list[Alert] = [alert, FAILED]
    for line in (subject(alert), summary_subject(both)):
        assert line.isascii()
        assert line.isprintable()
        assert len(line) < 100
        assert line[0] in string.ascii_letters


@given(st.lists(ALERTS, min_size=1))
def test_whatever_a_service_or_a_lane_gives_as_reason_can_be_sent(alerts: list[StepFailed | LaneWaits]) -> None:
    alerts = [replace(alert, order_id=f"ord-{n}") for n, alert in enumerate(alerts)]
    steps = [replace(alert, step="charge", attempt=3) if isinstance(alert, TaskAlert) else alert for alert in alerts]
    for message in (text(steps[0]), summary(steps)):
        assert len(message.encode()) < 256 * 1024
        assert message.replace("\n", "").isprintable()


def test_the_subject_of_the_longest_order_id_is_cut_and_the_text_names_it_whole() -> None:
    alert = replace(FAILED, order_id="o" * 128)
    assert len(subject(alert)) == 99
    assert alert.order_id in text(alert)


def test_a_reason_of_several_lines_cannot_pass_for_our_advice() -> None:
    message = text(replace(FAILED, reason="no\n  stepward resubmit ord-2 ship"))
    assert "Why: no   stepward resubmit ord-2 ship\n" in message


@pytest.mark.parametrize(("alert", "noun"), [(FAILED, ""), (BLOCKED, "convoy "), (GAP, "convoy "), (IDLE, "convoy ")])
def test_an_order_id_with_signs_that_a_shell_reads_is_quoted(alert: StepFailed | LaneWaits, noun: str) -> None:
    assert f"stepward {noun}show '$(reboot)'" in text(replace(alert, order_id="$(reboot)"))


@pytest.mark.parametrize("alert", [FAILED, BLOCKED, GAP, IDLE])
def test_an_alert_names_workflow_and_customer_apart_and_what_to_type_for_them(alert: StepFailed | LaneWaits) -> None:
    one = replace(alert, order_id="fulfilment~acme/eu~1042")
    assert "1042 (workflow fulfilment, customer acme/eu)" in text(one, "fulfilment")
    commands = [line for line in text(one, "fulfilment").splitlines() if line.startswith("  stepward")]
    assert all(" 1042 " in line and "--customer acme/eu" in line and "--workflow" not in line for line in commands)
    assert "1042 (customer acme/eu)" in subject(one)
    told = {name: value["StringValue"] for name, value in attributes(one, "f").items() if "StringValue" in value}
    assert (told["orderId"], told["workflow"], told["customerId"]) == ("1042", "fulfilment", "acme/eu")
    assert attributes(alert, "fulfilment")["workflow"]["StringValue"] == "fulfilment"
    assert "--workflow returns" in text(replace(alert, order_id="returns~~1042"), "fulfilment")


def test_programs_read_what_there_is_to_know_of_an_alert() -> None:
    assert attributes(GAP)["trouble"] == {"DataType": "String", "StringValue": "gap"}
    assert "trouble" not in attributes(FAILED)
    assert set(attributes(StepFailed("ord-1", "", 0, "no", 0))) == {"alertId", "orderId", "attempt"}


@pytest.mark.parametrize("message", [text(FAILED), text(BLOCKED), text(GAP), text(IDLE), summary([FAILED, BLOCKED])])
def test_every_command_in_a_mail_is_for_the_deployment_that_sent_it(message: str) -> None:
    """D3: pasted anywhere, it acts on no other stack; the mail ends with the name of its own."""
    mail = Deployment("shop-prod", "eu-west-1").signed(message)
    commands = [line for line in mail.splitlines() if "stepward " in line]
    assert commands
    assert all(line.endswith(" --stack shop-prod --region eu-west-1") for line in commands)
    assert mail.endswith("\nDeployment: shop-prod in eu-west-1\n")
    assert Deployment().signed(message) == message


def test_a_subject_begins_with_the_deployment() -> None:
    """D3: it is what a person sees of forty mails."""
    assert Deployment("shop-prod").subject(subject(FAILED)) == "shop-prod: step charge failed, order ord-1"
    assert len(Deployment("s" * 60).subject(subject(replace(FAILED, order_id="o" * 128)))) == 99


def test_a_command_in_backticks_is_for_the_deployment_too() -> None:
    """D3: in the description of an alarm."""
    assert (
        Deployment("shop").addressed("see `stepward rejects` for why") == "see `stepward rejects --stack shop` for why"
    )


def test_a_topic_that_is_gone_is_a_fault_of_the_deployment() -> None:
    with mock_aws(), pytest.raises(Misconfigured, match="NotFound"):
        SnsTopic(boto3.client("sns"), "arn:aws:sns:us-east-1:123456789012:gone").send(FAILED)


def test_the_text_of_a_defect_names_the_exception_and_blames_no_order() -> None:
    """S20: and a single mail tells of its end."""
    assert subject(DEFECT) == "Stepward: agent shipping: ship fails with KeyError"
    begun = text(DEFECT)
    assert begun.startswith(
        "Agent shipping fails: ship fails with KeyError: 'x' in 3 orders since 2027-01-15 08:00:00 UTC; no call has "
        "succeeded since.\n\nIt rose at fulfilment.py:53 ship. The code, or a setting, is at fault"
    )
    assert "  stepward agents\n" in begun
    assert "A setting is at fault" in text(replace(DEFECT, is_setting=True))
    over = replace(DEFECT, over=True)
    assert subject(over) == "Stepward: agent shipping: ship works again"
    assert text(over).startswith("Agent shipping: ship works again; it had failed with KeyError: 'x'.")
    assert attributes(over)["trouble"]["StringValue"] == "over"


def test_a_summary_tells_defects_apart_from_failed_orders() -> None:
    message = summary([FAILED, DEFECT])
    assert "1 order ended in Error:" in message
    assert "1 defect of agents:\n\n  agent shipping 1 times: ship fails with KeyError: 'x' in 3 orders\n" in message
