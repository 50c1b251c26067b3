"""References to the order, to earlier results and to an item; and the conditions that comparing them makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Never, NoReturn, Protocol

from stepward.domain.arguments import said
from stepward.domain.errors import NotUnderstood, Untellable, WorkflowError
from stepward.domain.workflow.values import (
    MISSING,
    UNREAD,
    Constant,
    Frozen,
    Missing,
    ValueKind,
    fault_of,
    frozen_constant,
    kind_of,
    read_constant,
    thawed,
)

LONGEST_PATH = 200
EQUALITIES = frozenset({"eq", "ne", "one_of"})
COMPARISONS = EQUALITIES | {"gt", "ge", "lt", "le"}

_NO_TRUTH = (
    "a condition is not true or false yet; write all_of(a, b) instead of `a and b` and of `x < y < z`, any_of(a, b) "
    "instead of `a or b`, none_of(a) instead of `not a`, and .one_of(…) instead of `in`"
)


class Named(Protocol):
    """A step or an operation: whatever has a step's name."""

    @property
    def name(self) -> str:
        """The name."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Whether something holds, as data: the Scheduler evaluates it once the values are there."""

    frozen: Frozen

    def __bool__(self) -> bool:
        """Refuse: Python asks for it in `and`, `or`, `not`, `if` and `a < b < c`."""
        raise WorkflowError(_NO_TRUTH)


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """A value that is read when its step begins: `["result", "screen", "score", 100]` as plain data.

    The last part is the default, if it has one. Comparing a ref with a constant makes a Condition.
    """

    frozen: Frozen

    def __gt__(self, constant: Constant) -> Condition:
        return _compared("gt", self, constant)

    def __ge__(self, constant: Constant) -> Condition:
        return _compared("ge", self, constant)

    def __lt__(self, constant: Constant) -> Condition:
        return _compared("lt", self, constant)

    def __le__(self, constant: Constant) -> Condition:
        return _compared("le", self, constant)

    def __eq__(self, constant: object) -> Condition:  # type: ignore[override]
        return _compared("eq", self, constant)

    def __ne__(self, constant: object) -> Condition:  # type: ignore[override]
        return _compared("ne", self, constant)

    def __hash__(self) -> int:
        return hash(self.frozen)

    def one_of(self, *constants: Constant) -> Condition:
        """Whether the value is one of `constants`."""
        return _compared("one_of", self, *constants)

    def exists(self) -> Condition:
        """Whether there is a value, and it is not null."""
        if default_of(self.frozen) is not MISSING:
            raise WorkflowError(f"{name_of(self.frozen)} has a default=, so it always exists; leave one of the two out")
        return Condition(("exists", self.frozen))


def as_data(part: Condition | Ref | None) -> Frozen:
    """A condition or a ref as plain data; () for none. Neither may be asked for its truth."""
    return () if part is None else part.frozen


class References:
    """Makes refs. `path` is a field, or several with dots between them; without one a ref means the whole."""

    def __call__(self, *_: Never) -> NoReturn:
        """Refuse: it does not say of what."""
        raise WorkflowError(
            'a ref says of what: ref.order("amount"), ref.result(reserve, "price") or ref.item("weight")'
        )

    @staticmethod
    def order(path: str = "", *, default: Constant | Missing = MISSING) -> Ref:
        """A field of the order message."""
        return _ref("order", path, default=default)

    @staticmethod
    def result(step: Named | str, path: str = "", *, default: Constant | Missing = MISSING) -> Ref:
        """A field of the result of an earlier step, which is named by itself, by its operation or by its name."""
        if not hasattr(step, "name") and not isinstance(step, str):
            raise WorkflowError(f"ref.result takes a step, its operation or its name, not {said(step)}")
        return _ref("result", step if isinstance(step, str) else step.name, path, default=default)

    @staticmethod
    def item(path: str = "", *, default: Constant | Missing = MISSING) -> Ref:
        """A field of the item that a step of an Each works on."""
        return _ref("item", path, default=default)


ref = References()


def read_ref(raw: object) -> Frozen:
    """The frozen ref in a plan's JSON; raises NotUnderstood for one that only newer code can have written."""
    match raw:
        case ["order" | "item", str(), *rest] | ["result", str(), str(), *rest] if len(rest) <= 1:
            return (*raw[: len(raw) - len(rest)], *map(read_constant, rest))
        case _:
            raise NotUnderstood(f"a ref {raw!r:.80}")


def resolve(frozen: Frozen, order: object, results: Mapping[str, object], item: object = MISSING) -> object:
    """The value of a frozen ref, or its default in place of null or nothing; MISSING if it has neither.

    Raises Untellable for what is not at hand, whatever its default.
    """
    if (found := look_up(frozen, order, results, item)) is UNREAD:
        raise Untellable(unread(frozen))
    default = default_of(frozen) if found is None or found is MISSING else MISSING
    return found if default is MISSING else default


def look_up(frozen: Frozen, order: object, results: Mapping[str, object], item: object = MISSING) -> object:
    """The value of a frozen ref without its default: None for null, MISSING for nothing, UNREAD for not at hand."""
    found: object = {"order": order, "result": results, "item": item}[frozen[0]]
    for name in place_of(frozen)[1:]:
        if found is UNREAD:
            break
        found = found.get(name, MISSING) if isinstance(found, Mapping) else MISSING
    return found


def unread(frozen: Frozen) -> str:
    """Why the value of a frozen ref is not at hand, and what to do."""
    return f"{name_of(frozen)} is in a result over 2,000 bytes, which only operations read; put it into a small one"


def place_of(frozen: Frozen) -> tuple[str, ...]:
    """Where the value stands: `("result", "screen", "score")`."""
    source, *names = frozen[: _length(frozen)]
    *step, path = names
    return (source, *step, *(path.split(".") if path else ()))


def name_of(frozen: Frozen) -> str:
    """What people call the value: `screen.score`, `order.total`."""
    return ".".join(place_of(frozen)[frozen[0] == "result" :])


def default_of(frozen: Frozen) -> Constant | Missing:
    """The default of a frozen ref; MISSING if it has none."""
    return thawed(frozen[-1]) if len(frozen) > _length(frozen) else MISSING


def comparison_fault(operator: str, frozen: Frozen, *constants: Constant) -> str:
    """Why the value of a frozen ref cannot be compared so; "" if it can."""
    kinds = {kind_of(constant) for constant in constants}
    default = default_of(frozen)
    if len(kinds) != 1:
        return "its constants are of several types" if kinds else "there is nothing to compare with"
    if default is not MISSING and kind_of(default) not in kinds:
        return f"its default {default!r} is not a {kinds.pop()}, as what it is compared with"
    if operator not in EQUALITIES and kinds != {ValueKind.NUMBER}:
        return f"a {kinds.pop()} has no order; compare it with ==, != or .one_of(…)"
    return ""


def _compared(operator: str, left: Ref, *constants: object) -> Condition:
    where = f"{name_of(left.frozen)} compared with"
    for constant in constants:
        if isinstance(constant, Ref):
            raise WorkflowError(f"{where} {name_of(constant.frozen)}: a ref compares with constants; do it in a step")
        if fault := fault_of(constant):
            raise WorkflowError(f"{where} {fault}")
    frozen = tuple(map(frozen_constant, constants))  # type: ignore[arg-type]
    if fault := comparison_fault(operator, left.frozen, *map(thawed, frozen)):
        raise WorkflowError(f"{name_of(left.frozen)}: {fault}")
    return Condition((operator, left.frozen, *frozen))


def _ref(source: str, *names: str, default: Constant | Missing) -> Ref:
    frozen = (source, *names)
    path = names[-1]
    if len(path) > LONGEST_PATH or (path and not all(path.split("."))):
        raise WorkflowError(
            f"{source} {path!r:.80}: a path is field names with a dot between them, such as 'address.country'"
        )
    if default is MISSING:
        return Ref(frozen)
    if fault := fault_of(default):
        raise WorkflowError(f"the default of {name_of(frozen)} is {fault}")
    return Ref((*frozen, frozen_constant(default)))


def _length(frozen: Frozen) -> int:
    return 3 if frozen[0] == "result" else 2
