"""A trip: an approval if it is dear, the flight, hotel and car side by side, the payment, and two e-mails."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import msgspec

from booking.remote import post
from stepward import (
    UNDO,
    Agent,
    Call,
    OrderMessage,
    Remind,
    Signal,
    Step,
    Timer,
    Workflow,
    days,
    hours,
    minutes,
    ref,
)

DEAR = 500_000
"""The price, in cents, above which somebody has to approve a trip."""


class Trip(OrderMessage, frozen=True, kw_only=True):
    """The message that asks for a trip; `price` is in cents."""

    destination: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    nights: Annotated[int, msgspec.Meta(ge=1, le=60)]
    price: Annotated[int, msgspec.Meta(ge=1)]
    check_in_opens: Annotated[datetime, msgspec.Meta(tz=True)]


class Approval(msgspec.Struct, frozen=True):
    """The data of the signal "approval"."""

    by: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


flights, hotels, cars = Agent("flights"), Agent("hotels"), Agent("cars")
cards, mail = Agent("cards", rate=50), Agent("mail")


@flights.operation
def book_flight(call: Call) -> Mapping[str, Any]:
    return post("flights/book", call, destination=call.order["destination"])


@flights.operation
def cancel_flight(call: Call) -> Mapping[str, Any]:
    return post("flights/cancel", call)


@hotels.operation
def book_hotel(call: Call) -> Mapping[str, Any]:
    return post("hotels/book", call, nights=call.order["nights"])


@hotels.operation
def cancel_hotel(call: Call) -> Mapping[str, Any]:
    return post("hotels/cancel", call)


@cars.operation
def rent_car(call: Call) -> Mapping[str, Any]:
    return post("cars/rent", call, days=call.order["nights"] + 1)


@cars.operation
def return_car(call: Call) -> Mapping[str, Any]:
    return post("cars/release", call)


@cards.operation
def charge(call: Call) -> Mapping[str, Any]:
    return post("cards/charge", call, amount=call.order["price"])


@cards.operation
def refund(call: Call) -> Mapping[str, Any]:
    return post("cards/refund", call)


@mail.operation
def send_itinerary(call: Call) -> Mapping[str, Any]:
    return post("mail/send", call, flight=call.results["book_flight"]["reference"])


@mail.operation
def send_check_in(call: Call) -> Mapping[str, Any]:
    return post("mail/send", call, flight=call.results["book_flight"]["reference"])


trip = Workflow(
    "trip",
    version=1,
    order=Trip,
    steps=[
        Signal(
            "approval",
            Approval,
            when=ref.order("price") > DEAR,
            complete_within=days(2),
            on_timeout=[Remind(hours(12)), UNDO],
            on_refused=UNDO,
        ),
        Step(book_flight, undo=cancel_flight, complete_within=minutes(1), on_permanent=UNDO),
        Step(book_hotel, undo=cancel_hotel, after=[book_flight], complete_within=minutes(1), on_permanent=UNDO),
        Step(rent_car, undo=return_car, after=[book_flight], complete_within=minutes(1), on_permanent=UNDO),
        Step(charge, undo=refund, after=[book_hotel, rent_car], complete_within=minutes(1), on_permanent=UNDO),
        Step(send_itinerary, complete_within=minutes(1)),
        Timer("check-in", until=ref.order("checkInOpens")),
        Step(send_check_in, complete_within=minutes(1)),
    ],
)
