"""An insurance for travellers: a part of a trip, or ordered by itself."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from booking.remote import post
from stepward import UNDO, Agent, Call, OrderMessage, Step, Workflow, minutes

insurers = Agent("insurers")


class InsuranceRequested(OrderMessage, frozen=True, kw_only=True):
    """The message that asks for an insurance."""

    type: Literal["insurance.requested"]
    destination: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    nights: Annotated[int, msgspec.Meta(ge=1, le=60)]


@insurers.operation
def quote(call: Call) -> Mapping[str, Any]:
    return post("insurers/quote", call, destination=call.order["destination"], nights=call.order["nights"])


@insurers.operation
def insure(call: Call) -> Mapping[str, Any]:
    return post("insurers/insure", call, quote=call.results["quote"]["reference"])


@insurers.operation
def end_insurance(call: Call) -> Mapping[str, Any]:
    return post("insurers/end", call)


insurance = Workflow(
    "insurance",
    version=1,
    order=InsuranceRequested,
    steps=[
        Step(quote, complete_within=minutes(1), on_permanent=UNDO),
        Step(insure, undo=end_insurance, complete_within=minutes(1), on_permanent=UNDO),
    ],
)
