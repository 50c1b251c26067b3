"""A trip: approved if dear, booked side by side, paid, ticketed, insured if wanted, accompanied by two e-mails."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

import msgspec

from booking.insurance import insurance
from booking.remote import post
from stepward import (
    UNDO,
    Agent,
    Call,
    Child,
    Each,
    Later,
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


class Traveller(msgspec.Struct, frozen=True):
    """Who gets a ticket."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class Trip(OrderMessage, frozen=True, kw_only=True):
    """The message that asks for a trip; `price` is in cents."""

    destination: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    nights: Annotated[int, msgspec.Meta(ge=1, le=60)]
    travellers: Annotated[list[Traveller], msgspec.Meta(min_length=1, max_length=100)]
    price: Annotated[int, msgspec.Meta(ge=1)]
    check_in_opens: Annotated[datetime, msgspec.Meta(tz=True)]
    needs_visa: bool = False
    insured: bool = False


class Approval(msgspec.Struct, frozen=True):
    """The data of the signal "approval"."""

    by: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


flights, cars, visas = Agent("flights"), Agent("cars"), Agent("visas")
hotels = Agent("hotels", settle=timedelta(seconds=30))
cards, mail = Agent("cards", rate=50), Agent("mail")


@flights.operation
def book_flight(call: Call) -> Mapping[str, Any]:
    return post("flights/book", call, destination=call.order["destination"])


@flights.operation
def cancel_flight(call: Call) -> Mapping[str, Any]:
    return post("flights/cancel", call)


@flights.operation
def issue_ticket(call: Call) -> Mapping[str, Any]:
    return post("flights/issue", call, booking=call.results["book_flight"]["reference"], name=call.item["name"])


@flights.operation
def void_ticket(call: Call) -> Mapping[str, Any]:
    return post("flights/void", call)


@hotels.operation
def book_hotel(call: Call) -> Mapping[str, Any]:
    return post("hotels/book", call, nights=call.order["nights"])


@hotels.operation
def cancel_hotel(call: Call) -> Mapping[str, Any]:
    return post("hotels/cancel", call)


@hotels.operation
def find_hotel(call: Call) -> Mapping[str, Any] | None:
    """Find the booking that stands: hotels take a reference, and book again when they are asked again."""
    return post("hotels/find_booking", call) or None


@cars.operation
def rent_car(call: Call) -> Mapping[str, Any]:
    return post("cars/rent", call, days=call.order["nights"] + 1)


@cars.operation
def return_car(call: Call) -> Mapping[str, Any]:
    return post("cars/release", call)


@visas.operation
def ask_for_visa(call: Call) -> Later:
    """Hand in the papers; the consulate decides within days, and answers with the token."""
    post("visas/apply", call, destination=call.order["destination"])
    return Later()


@visas.operation
def withdraw_visa(call: Call) -> Mapping[str, Any]:
    return post("visas/withdraw", call)


@cards.operation
def charge(call: Call) -> Mapping[str, Any]:
    return post("cards/charge", call, amount=call.order["price"])


@cards.operation
def refund(call: Call) -> Mapping[str, Any]:
    return post("cards/refund", call)


@mail.operation
def write_itinerary(call: Call) -> Mapping[str, Any]:
    """Write a page for each day: with those of a long trip, the result is a large one."""
    place, nights = call.order["destination"], call.order["nights"]
    begins, ends = "arrive, and take over the car", "give back the car, and fly home"
    days_of_it = [begins, *[f"a day in {place}, and a night in the hotel"] * (nights - 1), ends]
    return {"pages": [f"Day {number} in {place}: {does}." for number, does in enumerate(days_of_it, start=1)]}


@mail.operation
def send_itinerary(call: Call) -> Mapping[str, Any]:
    flight, pages = call.results["book_flight"]["reference"], call.results["write_itinerary"]["pages"]
    return post("mail/send", call, flight=flight, text="\n".join(pages))


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
            by="operators",
            when=ref.order("price") > DEAR,
            complete_within=days(2),
            on_timeout=[Remind(hours(12)), UNDO],
            on_refused=UNDO,
        ),
        Step(book_flight, undo=cancel_flight, complete_within=minutes(1), on_permanent=UNDO),
        Step(
            book_hotel,
            undo=cancel_hotel,
            check=find_hotel,
            after=[book_flight],
            complete_within=minutes(2),
            on_permanent=UNDO,
        ),
        Step(rent_car, undo=return_car, after=[book_flight], complete_within=minutes(1), on_permanent=UNDO),
        Step(
            ask_for_visa,
            undo=withdraw_visa,
            after=[book_flight],
            when=ref.order("needsVisa", default=False) == True,  # noqa: E712 - a condition on data
            complete_within=minutes(1),
            answer_within=days(20),
            on_permanent=UNDO,
        ),
        Step(
            charge,
            undo=refund,
            after=[book_hotel, rent_car, ask_for_visa],
            complete_within=minutes(1),
            on_permanent=UNDO,
        ),
        Each(
            "tickets",
            ref.order("travellers"),
            Step(issue_ticket, undo=void_ticket, complete_within=minutes(1), on_permanent=UNDO),
            at_once=2,
        ),
        Child(
            "insurance",
            insurance,
            order={"destination": ref.order("destination"), "nights": ref.order("nights")},
            when=ref.order("insured", default=False) == True,  # noqa: E712 - a condition on data
            complete_within=days(1),
            on_undone=UNDO,
        ),
        Step(write_itinerary, complete_within=minutes(1)),
        Step(send_itinerary, complete_within=minutes(1)),
        Timer("check-in", until=ref.order("checkInOpens")),
        Step(send_check_in, complete_within=minutes(1)),
    ],
)
