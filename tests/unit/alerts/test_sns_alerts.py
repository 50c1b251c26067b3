"""What a person reads when a step has failed."""

import string

import boto3
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from moto import mock_aws

from stepward.adapters.alerts.sns import SnsTopic, attributes
from stepward.adapters.alerts.step_texts import subject, summary, summary_subject, text
from stepward.domain.errors import Misconfigured
from stepward.domain.messages import StepFailed

ALERT = StepFailed("ord-1", "charge", 3, "card declined", 1_000_000)


def test_the_text_says_what_failed_why_and_what_to_type_next() -> None:
    """S7."""
    assert text(ALERT) == (
        "Step charge of order ord-1 ended in Error at attempt 3.\n\n"
        "Why: card declined\n\n"
        "The order waits until you act. Look at it:\n"
        "  stepward show ord-1\n"
        "Fix the cause, then run the step again:\n"
        '  stepward resubmit ord-1 charge --why "..."\n'
    )


def test_the_text_of_a_failed_undo_names_what_still_stands() -> None:
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


def test_a_summary_counts_the_steps_and_says_what_to_type_next() -> None:
    """S7: one message for 4,000 orders."""
    alerts = [
        StepFailed(f"ord-{n}", "charge" if n < 3_812 else "ship", 3, "503" if n else "504", 0) for n in range(4_000)
    ]
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


@settings(deadline=None)
@given(st.lists(st.text(st.characters()), min_size=1))
def test_whatever_reasons_come_together_can_be_sent(reasons: list[str]) -> None:
    message = summary([StepFailed(f"ord-{n}", "charge", 3, reason, 0) for n, reason in enumerate(reasons)])
    assert message.replace("\n", "").isprintable()
    message.encode()


def test_a_summary_of_many_steps_is_cut() -> None:
    alerts = [StepFailed("o" * 128 + str(n), f"step-{n}", 3, "no" * 1_000, 0) for n in range(500)]
    message = summary(alerts)
    assert "and 480 other steps\n" in message
    assert len(message.encode()) < 256 * 1024


@settings(deadline=None)
@given(
    st.builds(StepFailed, st.text(st.characters()), st.text(), st.integers(), st.text(st.characters()), st.integers())
)
def test_the_subject_is_one_line_of_ascii_that_sns_takes(alert: StepFailed) -> None:
    line = subject(alert)
    assert line.isascii()
    assert line.isprintable()
    assert len(line) <= 100
    assert line[0] in string.ascii_letters


def test_the_subject_of_the_longest_order_id_is_cut_and_the_text_names_it_whole() -> None:
    alert = StepFailed("o" * 128, "charge", 3, "no", 0)
    assert len(subject(alert)) == 100
    assert alert.order_id in text(alert)


@settings(deadline=None)
@given(st.text(st.characters()))
def test_whatever_a_service_gives_as_reason_can_be_sent(reason: str) -> None:
    message = text(StepFailed("ord-1", "charge", 3, reason, 0))
    assert len(message.encode()) < 256 * 1024
    assert message.replace("\n", "").isprintable()


def test_a_reason_of_several_lines_cannot_pass_for_our_advice() -> None:
    message = text(StepFailed("ord-1", "charge", 3, "no\n  stepward resubmit ord-2 ship", 0))
    assert "Why: no   stepward resubmit ord-2 ship\n" in message


def test_an_order_id_with_signs_that_a_shell_reads_is_quoted() -> None:
    assert "stepward show '$(reboot)'" in text(StepFailed("$(reboot)", "charge", 3, "no", 0))


def test_an_empty_attribute_is_left_out() -> None:
    assert set(attributes(StepFailed("ord-1", "", 0, "no", 0))) == {"alertId", "orderId", "attempt"}


def test_a_topic_that_is_gone_is_a_fault_of_the_deployment() -> None:
    with mock_aws(), pytest.raises(Misconfigured, match="NotFound"):
        SnsTopic(boto3.client("sns"), "arn:aws:sns:us-east-1:123456789012:gone").tell(ALERT)
