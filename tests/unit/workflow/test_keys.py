"""The key of a task: made, read back, grouped; no two tasks share one."""

import re
from itertools import product

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepward import Child, Step, Workflow, WorkflowError
from stepward.domain.errors import OtherCustomer
from stepward.domain.key import (
    LONGEST_KEY,
    Keys,
    TaskKey,
    check_customer,
    group,
    in_idempotency_key,
    named,
    spoken,
    typed,
)
from stepward.domain.timing import days, minutes
from stepward.domain.workflow.agents import Agent, Operation
from stepward.domain.workflow.definition import Fallback
from stepward.wire.order import KeyText, OrderId, ShortText
from tests.planned_app import works
from tests.unit.wire.refusals import refused

APART = Keys(("fulfilment", "returns", "gifts"), frozenset({"fulfilment", "gifts"}))
TOGETHER = Keys(("fulfilment", "returns", "gifts"), frozenset({"gifts"}))
ORDERS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}", fullmatch=True)
CUSTOMERS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,127}", fullmatch=True)
ADDRESSES = st.tuples(ORDERS, CUSTOMERS, st.sampled_from(("", "fulfilment", "returns", "gifts")))


def fits(address: tuple[str, str, str]) -> bool:
    return len(address[0]) + len(address[1]) + len("fulfilment~~") <= LONGEST_KEY


@given(st.sampled_from((APART, TOGETHER)), ADDRESSES.filter(fits))
def test_a_key_is_read_back_into_its_parts(keys: Keys, address: tuple[str, str, str]) -> None:
    order_id, customer_id, workflow = address
    key = keys.key(*address)

    parts, apart = TaskKey.read(key), keys.tell_apart(workflow)

    assert (str(parts), parts.order_id, parts.customer_id) == (key, order_id, customer_id if apart else "")
    assert (parts.workflow or keys.default) == (workflow or keys.default)
    assert keys.key(parts.order_id, parts.customer_id, parts.workflow) == key
    assert msgspec.convert(key, KeyText) == key
    assert named(key, keys.default)["workflow"] == (workflow or keys.default)
    assert in_idempotency_key(f"{key}/charge/by-bank/undo") == (key, "charge/by-bank/undo")


@given(ADDRESSES.filter(fits), ADDRESSES.filter(fits))
def test_no_two_tasks_share_a_key_or_a_group(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    keys = {APART.key(*address) for address in (one, other)}
    same = TaskKey.read(APART.key(*one)) == TaskKey.read(APART.key(*other))
    assert len(keys) == len({group(key) for key in keys}) == (1 if same else 2)


def test_ids_that_join_to_the_same_letters_stay_apart() -> None:
    """The separator is in no id: `/`, `@` and the others that a customer's id may hold move nothing across it."""
    texts = ("a", "a/b", "a@b", "b", "a/charge", "gifts", "a:b", "a+b=")
    addresses = [(order, customer) for order, customer in product(("a", "b", "a:b", "gifts"), texts)]
    keys = {APART.key(order, customer, workflow) for order, customer in addresses for workflow in ("", "gifts")}
    assert len(keys) == 2 * len(addresses)


def test_the_key_in_the_default_workflow_is_the_order_id_alone() -> None:
    assert TOGETHER.key("1042", "acme") == TOGETHER.key("1042") == TOGETHER.key("1042", "", "fulfilment") == "1042"
    assert TOGETHER.key("1042", "acme", "returns") == "returns~~1042"
    assert APART.key("1042", "acme") == APART.key("1042", "acme", "fulfilment") == "fulfilment~acme~1042"


@pytest.mark.parametrize("kind", [OrderId, ShortText])
@pytest.mark.parametrize("sign", "~#")
def test_no_id_holds_what_separates_the_parts_of_a_key(kind: type[str], sign: str) -> None:
    for text in (sign, f"a{sign}", f"a{sign}b"):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(text, kind)


@pytest.mark.parametrize(
    ("address", "field", "reason"),
    [
        (("1042", "", ""), "customerId", "is missing; the workflow fulfilment tells customers apart"),
        (("1042", "acme", "refunds"), "workflow", "is 'refunds'; there are fulfilment, returns, gifts"),
        (("1" * 128, "c" * 61, ""), "customerId", "workflow~customerId~orderId 201 characters long; the limit is 200"),
    ],
)
def test_what_addresses_no_task_is_refused_by_field(address: tuple[str, str, str], field: str, reason: str) -> None:
    fault = refused(APART.key, *address)
    assert (fault.field, reason in fault.reason) == (field, True)


@pytest.mark.parametrize("key", ["1" * 128, "fulfilment~acme~" + "1" * 112, "gifts~acme~1", "a"])
def test_the_group_of_a_key_that_fits_is_the_key(key: str) -> None:
    assert group(key) == key


@pytest.mark.parametrize(
    "key", ["fulfilment~acme~" + "1" * 113, "f~" + "c" * 100 + "~" + "1" * 97, "sha256-" + "0" * 64]
)
def test_the_group_of_a_longer_key_ends_in_a_hash(key: str) -> None:
    """SQS takes 128 characters, and no group may look like a hash that the sender makes itself."""
    assert re.fullmatch(r"[!-~]{1,95}#[0-9a-f]{32}", group(key))
    assert key.startswith(group(key)[:-33])
    assert group(key) != group(key + "x")


def test_a_person_reads_and_types_what_is_needed() -> None:
    assert typed("1042", "charge") == ["1042", "charge"]
    acme = "fulfilment~acme~1042"
    assert typed(acme, "charge", default="fulfilment") == ["1042", "charge", "--customer", "acme"]
    assert typed("returns~~1042") == ["1042", "--workflow", "returns"]
    assert (spoken("1042"), spoken(acme)) == ("1042", "1042 (customer acme)")
    assert spoken(acme, "fulfilment") == "1042 (workflow fulfilment, customer acme)"


def test_a_message_that_names_no_customer_is_not_another_ones() -> None:
    for customer, owner in (("acme", "acme"), ("", "acme"), ("acme", None), ("acme", "")):
        check_customer(customer, owner)
    with pytest.raises(OtherCustomer, match="customerId: is 'globex'; the order is one of 'acme'"):
        check_customer("globex", "acme")


def test_a_step_whose_idempotency_key_could_be_cut_is_refused_at_import() -> None:
    """Services cut at 255 characters, and a key may take 200 of them."""
    first, second = Operation(Agent("first"), "do", works), Operation(Agent("a" * 30), "do", works)
    undo, undo_second = Operation(first.agent, "undo", works), Operation(second.agent, "undo", works)
    step = Step(first, undo=undo, name="s" * 40, on_timeout=Fallback(second, undo_second), complete_within=minutes(1))

    Workflow("w", 1, [step])
    with pytest.raises(WorkflowError, match="is 79 characters; a workflow that tells customers apart leaves 54"):
        Workflow("w", 1, [step], per_customer=True)
    with pytest.raises(WorkflowError, match="step 'part', its step 's"):
        Workflow("v", 1, [Child("part", Workflow("w", 1, [step]), complete_within=days(1))])
    Workflow("w", 1, [Step(first, undo=undo, name="s" * 40, complete_within=minutes(1))], per_customer=True)
