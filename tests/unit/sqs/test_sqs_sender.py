"""What the SQS adapter does when SQS takes only a part, or nothing."""

import json
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import ConnectTimeoutError, NoCredentialsError
from hypothesis import given
from hypothesis import strategies as st
from moto import mock_aws

from stepward.adapters.sqs.delivery import NotTaken, Outgoing
from stepward.adapters.sqs.queues import SqsQueues, SqsSender
from stepward.domain.errors import Misconfigured, Transient
from stepward.domain.messages import Start
from tests.unit.sqs.flaky_sqs import FlakySqs

STANDARD = "https://sqs.us-east-1.amazonaws.com/111122223333/scheduler"
FIFO = "https://sqs.us-east-1.amazonaws.com/111122223333/convoy.fifo"
FIELD_CASES = Path(__file__).parents[2] / "field_cases"


def numbered(*names: str) -> list[Outgoing]:
    """A1 is the first message of group A, and so on."""
    return [Outgoing(name, group=name[0], deduplication=name) for name in names]


def send(sqs: FlakySqs, queue: str, messages: Iterable[str | Outgoing], error: str = "") -> None:
    """The messages are sent, and nothing is wrong, or this."""
    with pytest.raises(Transient, match=error) if error else nullcontext():
        SqsSender(sqs.client()).send(queue, [Outgoing(each) if isinstance(each, str) else each for each in messages])


@pytest.mark.parametrize(
    ("failing", "times", "code", "error", "again"),
    [
        ("b", 1, "InternalError", "", ["b"]),
        ("bc", 2, "InternalError", r"2 of 3 messages were not taken \(InternalError\)", ["bc"]),
        ("b", 2, "InvalidMessageContents", r"1 of 3 messages were not taken \(InvalidMessageContents\)", []),
        ("b", 2, "lost", r"1 of 3 messages were not taken \(NotAnswered\)", ["b"]),
    ],
    ids=["once", "twice: counted in the error", "invalid: not sent again", "not named in the answer: failed"],
)
def test_an_entry_that_fails_is_sent_again_at_once(
    failing: str, times: int, code: str, error: str, again: list[str]
) -> None:
    """S22: field case 23, Successful + Failed = sent."""
    sqs = FlakySqs(lambda body, attempt: code if body in failing and attempt <= times else "")
    send(sqs, STANDARD, "abc", error)
    assert ["".join(call) for call in sqs.calls] == ["abc", *again]


def test_a_failure_on_a_standard_queue_holds_nobody_back() -> None:
    sqs = FlakySqs(lambda body, _: "InternalError" if body == "0" else "")
    send(sqs, STANDARD, [Outgoing(str(number), "group", tenant="same") for number in range(12)], "1 of 12")
    assert {entry["MessageGroupId"] for entry in sqs.entries} == {"same"}
    assert sorted(body for call in sqs.taken for body in call) == sorted(str(number) for number in range(1, 12))


def test_a_failed_entry_holds_back_later_entries_of_its_own_group_only() -> None:
    """C3, C6: field case 23."""
    first = numbered("A1", "A2", "B1", "B2", "C1", "C2", "D1", "D2", "E1", "E2")
    later = numbered("A3", "B3", "A4")
    sqs = FlakySqs(lambda body, _: "InternalError" if body == "A2" else "")
    with pytest.raises(NotTaken, match=r"1 of 13 .* and 2 behind them in their groups were held back") as found:
        SqsSender(sqs.client()).send(FIFO, first + later)
    assert (sqs.calls[1:], found.value.bodies) == ([["A2"], ["B3"]], {"A2", "A3", "A4"})


def test_failed_entries_of_one_group_are_sent_again_in_order_and_one_per_call() -> None:
    """C1."""
    sqs = FlakySqs(lambda body, attempt: "InternalError" if attempt == 1 and body != "B1" else "")
    send(sqs, FIFO, numbered("A1", "A2", "B1", "C1"))
    assert sqs.calls[1:] == [["A1", "C1"], ["A2"]]


def test_the_recorded_partial_answer_retries_the_failed_entry_before_any_later_one() -> None:
    """C3: convoy_send_batch_partial.json."""
    case = json.loads((FIELD_CASES / "convoy_send_batch_partial.json").read_text())
    names = {entry["Id"]: f"{entry['order']}{entry['seq']}" for entry in case["entries"]}
    refused = {names[failed["Id"]]: failed["Code"] for failed in case["response"]["Failed"]}
    sqs = FlakySqs(lambda body, attempt: refused.get(body, "") if attempt == 1 else "")
    send(sqs, FIFO, numbered(*names.values()))
    assert sqs.calls == [["A1", "A2", "A3"], ["A2"]]


GROUPS = st.lists(st.sampled_from("ABC"), min_size=1, max_size=40)


@given(groups=GROUPS, failing=st.dictionaries(st.integers(0, 39), st.integers(1, 3)))
def test_nothing_of_a_group_goes_out_in_a_call_after_its_failure(groups: list[str], failing: dict[int, int]) -> None:
    """C1, C3: in whatever way entries fail, no later call brings a message before one that was tried and not taken."""
    messages = [Outgoing(f"{group}{number}", group, str(number)) for number, group in enumerate(groups)]
    sqs = FlakySqs(lambda body, attempt: "InternalError" if failing.get(int(body[1:]), 0) >= attempt else "")
    try:
        send(sqs, FIFO, messages)
    except Transient:
        assert max(failing.values()) > 1
    waiting: set[str] = set()
    for tried, taken in zip(sqs.calls, sqs.taken, strict=True):
        for body in taken:
            assert not [other for other in waiting if other[0] == body[0] and int(other[1:]) < int(body[1:])]
        waiting = (waiting | set(tried)) - set(taken)


def test_a_standard_message_carries_its_tenant_if_it_has_one() -> None:
    """S21: SQS takes any group id that a FIFO queue takes, and needs none."""
    sqs = FlakySqs()
    send(sqs, STANDARD, ["a", Outgoing("b", tenant="customer 7"), Outgoing("c", tenant="c")])
    groups = [entry.get("MessageGroupId", "") for entry in sqs.entries]
    assert [groups[0], groups[1][:7], groups[2]] == ["", "sha256-", "c"]
    assert not [entry for entry in sqs.entries if "MessageDeduplicationId" in entry]


def test_a_fifo_message_carries_safe_ids_and_never_a_delay() -> None:
    """Field cases 17 and 27."""
    sqs = FlakySqs()
    send(sqs, FIFO, [Outgoing("a", "order 1", "ok-id")])
    [entry] = sqs.entries
    assert set(entry) == {"Id", "MessageBody", "MessageGroupId", "MessageDeduplicationId"}
    assert entry["MessageGroupId"].startswith("sha256-")
    assert entry["MessageDeduplicationId"] == "ok-id"


@pytest.mark.parametrize("message", [Outgoing("a"), Outgoing("a", group="A"), Outgoing("a", deduplication="a1")])
def test_a_fifo_message_without_group_or_deduplication_id_is_a_defect_of_the_caller(message: Outgoing) -> None:
    sqs = FlakySqs()
    with pytest.raises(ValueError, match="give it both"):
        SqsSender(sqs.client()).send(FIFO, [message])
    assert sqs.calls == []


def test_a_queue_that_is_gone_is_a_fault_of_the_deployment() -> None:
    with mock_aws():
        queues = SqsQueues(boto3.client("sqs"), STANDARD, STANDARD, {})
        with pytest.raises(Misconfigured, match=r"scheduler: AWS.SimpleQueueService.NonExistentQueue; check that"):
            queues.to_scheduler([Start("ord-1")])


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("RequestThrottled", Transient),
        ("InternalFailure", Transient),
        ("SomethingNew", Transient),
        ("AccessDenied", Misconfigured),
        ("KmsAccessDenied", Misconfigured),
        ("QueueDoesNotExist", Misconfigured),
    ],
)
def test_the_code_of_an_error_decides_what_it_means(code: str, expected: type[Exception]) -> None:
    with pytest.raises(expected, match=code):
        SqsSender(FlakySqs(refuses_all=code).client()).send(STANDARD, [Outgoing("a")])


@pytest.mark.parametrize("fault", [ConnectTimeoutError(endpoint_url=STANDARD), NoCredentialsError()])
def test_a_call_that_never_got_an_answer_is_transient(fault: Exception) -> None:
    client = boto3.client("sqs")

    def cut(**_: object) -> None:
        raise fault

    client.meta.events.register("before-call.sqs.SendMessageBatch", cut)
    with pytest.raises(Transient, match=type(fault).__name__):
        SqsSender(client).send(STANDARD, [Outgoing("a")])
