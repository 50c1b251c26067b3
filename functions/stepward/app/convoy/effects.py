"""What an order event does beyond its lane: a create submits the order, a delete cancels it."""

from __future__ import annotations

from dataclasses import dataclass

from stepward.app.scheduler.transition import Transition
from stepward.app.submission import Submit
from stepward.domain.convoy.event import Op, OrderEvent
from stepward.domain.errors import Rejected
from stepward.domain.history import HistoryKind
from stepward.domain.key import check_customer
from stepward.domain.messages import Cancel
from stepward.wire.order import accepted
from stepward.wire.order_event import details_of, order_of

BY = "the submitter"


@dataclass(frozen=True, slots=True)
class Effects:
    """Performs the effects of events, each once however often it is requested."""

    submit: Submit
    transition: Transition

    def perform(self, event: OrderEvent) -> str:
        """Perform the effect; why it is refused for good, or empty. Raises Transient, or OtherCustomer."""
        try:
            match event.op:
                case Op.CREATE:
                    keys = self.submit.keys
                    self.submit.accept(accepted(order_of(event, keys), self.submit.schemas, keys))
                case Op.DELETE:
                    return self._cancel(event)
        except Rejected as error:
            self._check_customer(event)
            return str(error)
        return ""

    def _check_customer(self, event: OrderEvent) -> None:
        """Raise OtherCustomer if there is an order of another customer, by another way than its lane."""
        if loaded := self.transition.store.load(event.order_id):
            check_customer(event.customer_id, loaded.order.get("customerId"))

    def _cancel(self, event: OrderEvent) -> str:
        reason = str(details_of(event).get("reason") or "cancelled")
        history = self.transition.apply(event.order_id, Cancel(event.order_id, BY, reason))
        refused = next((entry.note for entry in history if entry.kind is HistoryKind.REFUSED), "")
        if not refused:
            return ""
        loaded = self.transition.store.load(event.order_id, with_order=False)
        # Whoever began the undo, the order is cancelled, as this event wants.
        return "" if loaded and loaded.task.undoing else f"op: {refused}"
