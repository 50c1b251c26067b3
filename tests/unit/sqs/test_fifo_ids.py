"""Group and deduplication ids: valid for SQS, and never two made into one."""

import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stepward.adapters.sqs.fifo_ids import fifo_id

ALLOWED = re.compile("[" + re.escape(string.ascii_letters + string.digits + string.punctuation) + "]{1,128}")
anything = st.text(st.characters(), max_size=140) | st.text(string.ascii_letters, min_size=1).map(fifo_id)
posing = anything | anything.map(fifo_id)


@given(posing)
@example("")
@example("\ud800")
def test_every_text_becomes_an_id_that_sqs_takes(text: str) -> None:
    """Field case 17."""
    assert ALLOWED.fullmatch(fifo_id(text))


@given(posing, posing)
def test_two_texts_never_share_an_id(one: str, other: str) -> None:
    """C1: field case 17."""
    assert (fifo_id(one) == fifo_id(other)) is (one == other)


@given(anything)
def test_a_text_that_is_the_hash_of_another_does_not_pose_as_it(text: str) -> None:
    """C1: field case 17."""
    hashed = fifo_id(f"{text} with a space")
    assert fifo_id(hashed) != hashed


@pytest.mark.parametrize("text", ["ord-1001", string.punctuation, "x" * 128, "sha256-short"])
def test_what_sqs_takes_is_left_alone(text: str) -> None:
    assert fifo_id(text) == text


def test_long_ids_that_begin_alike_stay_apart() -> None:
    """C1: never truncated."""
    assert fifo_id("x" * 128 + "a") != fifo_id("x" * 128 + "b")
