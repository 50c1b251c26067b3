"""The key of a task: one text made of workflow, customer and order id. Nothing else makes a key, or takes one apart."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from stepward.domain.errors import OtherCustomer, Rejected

LONGEST_KEY = 200
SUBMITTED = "order.submitted"
"""The type of the messages that submit orders, where a workflow's message class declares no other."""
LONGEST_GROUP = 128
LONGEST_TYPE = 40
_BETWEEN = "~"
_HASHED = "#"
"""Like the one above it is in no id and in no workflow's name; it stands before the hash that ends a group, and before
the step that a child is."""


@dataclass(frozen=True, slots=True)
class TaskKey:
    """The parts of a key; `str` is its text.

    `workflow` is empty for the default workflow, unless that tells customers apart. `customer_id` is empty if the
    workflow does not tell customers apart.
    """

    order_id: str
    workflow: str = ""
    customer_id: str = ""

    def __str__(self) -> str:
        addressed = self.workflow or self.customer_id
        return _BETWEEN.join((self.workflow, self.customer_id, self.order_id)) if addressed else self.order_id

    @staticmethod
    def read(text: str) -> TaskKey:
        """The parts of a key; any other text is an order id."""
        parts = text.split(_BETWEEN)
        return TaskKey(parts[2], parts[0], parts[1]) if len(parts) == 3 else TaskKey(text)

    @property
    def fields(self) -> dict[str, str]:
        """The fields by which an outsider's message addresses the task."""
        both = {"workflow": self.workflow, "customerId": self.customer_id}
        return {"orderId": self.order_id} | {name: value for name, value in both.items() if value}


@dataclass(frozen=True, slots=True)
class Keys:
    """Makes the keys of an application's tasks.

    `workflows` names its workflows, the default one first; `per_customer` are those that tell customers apart. `types`
    are the types of the messages that submit orders, one for each workflow and in the same order.
    """

    workflows: tuple[str, ...] = ()
    per_customer: frozenset[str] = frozenset()
    types: tuple[str, ...] = (SUBMITTED,)

    @property
    def default(self) -> str:
        """The workflow of a message that names none; empty if it is not known."""
        return self.workflows[0] if self.workflows else ""

    def submitted(self, type_: str) -> str:
        """The workflow of the orders that messages of this type submit, "" if not known by name; raises Rejected."""
        if type_ not in self.types:
            raise Rejected("type", f"is {type_[:LONGEST_TYPE]!r}; an order's is {' or '.join(self.types)}")
        at = self.types.index(type_)
        return self.workflows[at] if at < len(self.workflows) else ""

    def type_of(self, workflow: str) -> str:
        """The type of the messages that submit orders of this workflow, or of the default one."""
        return dict(zip(self.workflows, self.types, strict=False)).get(workflow, self.types[0])

    def check_workflow(self, workflow: str) -> None:
        """Raise Rejected if there is no such workflow; empty stands for the default one."""
        if workflow and self.workflows and workflow not in self.workflows:
            raise Rejected("workflow", f"is {workflow!r}; there are {', '.join(self.workflows)}")

    def tell_apart(self, workflow: str) -> bool:
        """Whether this workflow, or the default one, tells customers apart."""
        return (workflow or self.default) in self.per_customer

    def key(self, order_id: str, customer_id: str = "", workflow: str = "") -> str:
        """The key of the task that these fields of a message address; raises Rejected."""
        self.check_workflow(workflow)
        named, apart = workflow or self.default, self.tell_apart(workflow)
        if apart and not customer_id:
            raise Rejected("customerId", f"is missing; the workflow {named} tells customers apart")
        key = str(TaskKey(order_id, named if apart or named != self.default else "", customer_id if apart else ""))
        if len(key) > LONGEST_KEY:
            reason = f"makes the key workflow~customerId~orderId {len(key)} characters long; the limit is {LONGEST_KEY}"
            raise Rejected("customerId", f"{reason}. Use a shorter customerId or orderId")
        return key


def child_key(parent: str, step: str) -> str:
    """The key of the task that is a step of another, `parent#step`; the hash of a parent's key that is too long."""
    if len(key := f"{parent}{_HASHED}{step}") <= LONGEST_KEY:
        return key
    return f"{hashlib.sha256(parent.encode()).hexdigest()[:32]}{_HASHED}{step}"


ANY = Keys()
"""For who does not know the application: no workflow is unknown, and none tells customers apart."""


def named(key: str, default: str = "") -> dict[str, str | None]:
    """The parts of a key as programs read them; `default` is the name of the default workflow."""
    parts = TaskKey.read(key)
    workflow, customer_id = parts.workflow or default, parts.customer_id
    return {"orderId": parts.order_id, "workflow": workflow or None, "customerId": customer_id or None}


def typed(key: str, *after: str, default: str = "") -> list[str]:
    """The words that address the task on the command line, with those that come `after` the order."""
    parts = TaskKey.read(key)
    options = {"--customer": parts.customer_id, "--workflow": parts.workflow if parts.workflow != default else ""}
    return [parts.order_id, *after, *(word for name, value in options.items() if value for word in (name, value))]


def spoken(key: str, default: str = "") -> str:
    """The order as people read it; with the name of the `default` workflow also its workflow."""
    parts = TaskKey.read(key)
    workflow = parts.workflow or default if default else ""
    named = {"workflow": workflow, "customer": parts.customer_id}
    said = ", ".join(f"{name} {value}" for name, value in named.items() if value)
    return f"{parts.order_id} ({said})" if said else parts.order_id


def group(key: str) -> str:
    """The message group of the task's messages on a FIFO queue, where a group takes 128 characters.

    A text that the senders would take for one of their own hashes is hashed here too.
    """
    if len(key) <= LONGEST_GROUP and not key.startswith("sha256-"):
        return key
    ending = _HASHED + hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return key[: LONGEST_GROUP - len(ending)] + ending


def in_idempotency_key(text: str) -> tuple[str, str]:
    """The task's key and the effect in an idempotency key, KEY/EFFECT; no order id holds a `/`, only a customer's."""
    address, between, last = text.rpartition(_BETWEEN)
    order_id, _, effect = last.partition("/")
    return f"{address}{between}{order_id}", effect


def check_customer(named: str, owner: object) -> None:
    """Raise OtherCustomer if a message names another customer than its order; one that names none is not another's."""
    if named and owner and named != owner:
        raise OtherCustomer("customerId", f"is {named!r}; the order is one of {owner!r}")
