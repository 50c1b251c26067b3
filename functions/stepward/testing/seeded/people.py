"""The people of a world: those who order, twice or otherwise, and operators who click, twice or too late."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from stepward.domain.key import ANY, Keys, TaskKey
from stepward.domain.messages import Pause, Resubmit, Resume, StepFailed, Undo
from stepward.testing.faults.gate import Gate
from stepward.testing.faults.loop import MINUTE, SECOND
from stepward.wire.messages import encode

LATER = [0, 60, 150, 300, 600, 1_200, 5 * SECOND, 25 * SECOND, 3 * MINUTE, 20 * MINUTE]
CUSTOMERS, STRANGER = ("c1", "c2"), "stranger"
MALFORMED = ['{"orderId":', '{"orderId":"ord-0"}', "[]", '{"orderId":"ord-0","type":"order.paid","version":1}']


@dataclass(slots=True)
class People:
    """They `post` to the queues; `write` makes the text of the order with this key, with its dice.

    They undo and cancel only `undoable` orders. Where `keys` tell customers apart, two of them use the same order ids.
    """

    gate: Gate
    undoable: bool
    write: Callable[[str, Random], str]
    keys: Keys = ANY
    workflow: str = ""
    post: Callable[[str, str], object] = field(init=False)
    ordered: list[str] = field(default_factory=list)
    alerted: Counter[str] = field(default_factory=Counter)

    def order(self, number: int, within: int) -> None:
        """Somebody orders, and perhaps does more about it."""
        order_id, dice = self._key(number), self.gate.chances.dice(f"order {number}")
        at = dice.randrange(within)
        if self.gate.chances.happens(f"{order_id} is ordered", 1.0) is None:
            return
        self.ordered.append(order_id)
        text = self.write(order_id, dice)
        self._say("orders", text, at)
        self._again(order_id, text, at)
        self._commands(order_id, at)
        if "customerId" in json.loads(text):
            self._stranger(order_id, at)

    def hear(self, alert: StepFailed) -> None:
        """An operator is alerted to an Error, and resubmits the step, perhaps with two clicks."""
        times = self.alerted[alert.alert_id] = self.alerted[alert.alert_id] + 1
        name = f"{alert.order_id}: {alert.step}/{alert.attempt} is resubmitted after alert {times}"
        if dice := self.gate.chances.happens(name, min(1.0, self.gate.profile.people * 1.5)):
            self.gate.diary.counts["commands"] += 1
            seen = dice.choice([0, 0, 0, 1])
            text = encode(Resubmit(alert.order_id, alert.step, max(0, alert.attempt - seen), "ada", "fixed"))
            for _ in range(dice.choice([1, 1, 2])):
                self._say("scheduler", text, dice.choice(LATER))

    def _key(self, number: int) -> str:
        if not self.keys.tell_apart(self.workflow):
            named = self.workflow if self.workflow != self.keys.default else ""
            return str(TaskKey(f"ord-{number}", named))
        pair, whose = divmod(number, len(CUSTOMERS))
        return str(TaskKey(f"ord-{pair}", self.workflow or self.keys.default, CUSTOMERS[whose]))

    def _stranger(self, order_id: str, at: int) -> None:
        """Another customer cancels the order, or one of his own that never comes; this one goes on."""
        name = f"{order_id}: a stranger cancels it"
        if dice := self.gate.chances.happens(name, self.gate.profile.people / 4):
            known = {**TaskKey.read(order_id).fields, "customerId": STRANGER, "reason": STRANGER}
            self._say("orders", json.dumps({**known, "type": "order.cancelled"}), at + dice.choice(LATER))

    def _again(self, order_id: str, text: str, at: int) -> None:
        rate = self.gate.profile.people / 4
        if dice := self.gate.chances.happens(f"{order_id} is ordered twice", rate):
            self._say("orders", text, at + dice.choice(LATER))
        if dice := self.gate.chances.happens(f"{order_id} is ordered with other content", rate):
            other = json.dumps({**json.loads(text), "note": "x"})
            self._say("orders", other, at + dice.choice(LATER))
        if dice := self.gate.chances.happens(f"nonsense beside {order_id}", rate):
            self._say("orders", dice.choice(MALFORMED), at)

    def _commands(self, order_id: str, at: int) -> None:
        for turn in ("first", "second"):
            if dice := self.gate.chances.happens(f"{order_id}: {turn} command", self.gate.profile.people / 2):
                self.command(dice, order_id, at + dice.choice(LATER))

    def command(self, dice: Random, order_id: str, at: int) -> None:
        """Have somebody undo, cancel or pause the order at this time, perhaps with two clicks."""
        self.gate.diary.counts["commands"] += 1
        kinds = ["undo", "undo", "cancel", "pause", "pause"] if self.undoable else ["pause"]
        clicks = range(dice.choice([1, 1, 2]))
        cancellation = {**TaskKey.read(order_id).fields, "type": "order.cancelled"}
        match dice.choice(kinds):
            case "undo":
                for _ in clicks:
                    self._say("scheduler", encode(Undo(order_id, "ada", "sold twice")), at)
            case "cancel":
                for _ in clicks:
                    self._say("orders", json.dumps(cancellation), at)
            case _:
                resumes = at + dice.choice(LATER)
                for _ in clicks:
                    self._say_when("pause", order_id, at)
                if dice.random() < 0.8:
                    self._say_when("resume", order_id, resumes)

    def _say(self, queue: str, text: str, wait: int) -> None:
        self.gate.loop.later(wait, lambda: self.post(queue, text))

    def _say_when(self, what: str, order_id: str, wait: int) -> None:
        """Pause or resume, marked with the time at which it was asked for."""

        def say() -> None:
            kind = Pause if what == "pause" else Resume
            self.post("scheduler", encode(kind(order_id, "ada", what, self.gate.loop.now)))

        self.gate.loop.later(wait, say)
