"""How messages are packed into calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepward.adapters.sqs.delivery import MOST_BYTES, Outgoing, batches

MIB = 1024 * 1024
HALF = MIB // 2


@given(st.lists(st.sampled_from([1, 1000, 100_000, 400_000, 524_288, 524_289, MIB])), st.sampled_from("xé€"))
def test_every_call_is_within_both_limits_and_nothing_changes_its_position(lengths: list[int], sign: str) -> None:
    messages = [Outgoing(sign * max(1, length // len(sign.encode()))) for length in lengths]
    packed = list(batches(messages))
    assert [message for batch in packed for message in batch] == messages
    assert all(1 <= len(batch) <= 10 for batch in packed)
    assert all(sum(len(message.body.encode()) for message in batch) <= MIB for batch in packed)


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [([1] * 11, [10, 1]), ([HALF, HALF], [2]), ([HALF, HALF + 1], [1, 1]), ([MIB] * 3, [1, 1, 1]), ([], [])],
)
def test_a_call_is_filled_up_to_its_limit(lengths: list[int], expected: list[int]) -> None:
    assert [len(batch) for batch in batches([Outgoing("x" * length) for length in lengths])] == expected


def test_size_is_counted_in_bytes() -> None:
    assert [len(batch) for batch in batches([Outgoing("€" * (MIB // 3)), Outgoing("€")])] == [1, 1]
    assert MOST_BYTES == MIB
