"""O3: each command, given as a person gives it, does what it says; ten at once, and two people at once."""

from __future__ import annotations

import pytest

from tests.browser.shop import RETURN, Shop, eventually, sample
from tests.browser.window import Window

WHY = "Why, for the audit log"


def give(page: Window, title: str, why: str, *said: str) -> None:
    """Press the button of a command, give the reason, and read what came of it."""
    page.press(title)
    page.write(WHY, why)
    page.press_in_dialog(title.partition(" ")[0])
    page.see(*said)
    page.press("Close")
    page.gone(WHY)


@pytest.mark.parametrize(
    ("title", "said", "state"),
    [("Resubmit charge", "charge", "Processed"), ("Undo the order", "", "Undone"), ("Cancel the order", "", "Undone")],
)
def test_a_command_ends_an_order_that_failed(page: Window, shop: Shop, title: str, said: str, state: str) -> None:
    (key,) = shop.failing()
    page.open(f"/orders/{key}")
    page.see(f"Order {key}")
    give(page, title, "the card is good now", said)
    shop.becomes(key, state)
    page.see(f"Order {key}\n{state}", "the card is good now (applied)")


def test_an_order_pauses_resumes_and_goes_on_with_the_answers_of_a_person(page: Window, shop: Shop) -> None:
    page.open(f"/orders/{RETURN}")
    page.see("Order ret-1")
    give(page, "Pause the order", "the shop asked", "is paused")
    give(page, "Resume the order", "the shop agreed", "goes on")
    shop.stage.send([sample("returns/goods", orderId="ret-1")])
    page.press("Answer approval")
    page.write(WHY, "as agreed")
    page.write("The answer, a JSON object", '{"by": "ada", "percent": 50}')
    page.press_in_dialog("Answer")
    eventually(lambda: shop.steps(RETURN).get("approval") == "Processed")
    page.press("Close")
    page.see('{"by": "ada", "percent": 50}', "the shop asked (applied)", "the shop agreed (applied)")


def test_a_lane_goes_on_once_its_event_is_skipped_and_stays_where_it_was_wrong(page: Window) -> None:
    page.open("/lanes/gap-2")
    page.see("Lane of order gap-2")
    give(page, "Skip event 2", "it was never sent", "Event 2 was skipped")
    page.see("Event 2: unknown, skipped", "Event 3: add, applied")
    page.open("/lanes/poison-2")
    page.see("Lane of order poison-2")
    give(page, "Retry the event", "the shop says it is right", "still stops the lane")


def test_ten_are_mended_at_once_after_their_number_is_typed(page: Window, shop: Shop) -> None:
    keys = shop.failing(10)
    page.open("/orders?where=state%3DError")
    page.see("read")
    for key in keys:
        page.tick(key)
    page.press("Act on the marked")
    page.see("It would be given to 10:", "charge: payments/charge: refused with declined")
    page.write(WHY, "the bank is back")
    page.press_in_dialog("Do it")
    page.see("This is for 10 orders: type 10 to confirm.")
    assert all(shop.steps(key)["charge"] == "Error" for key in keys)
    page.write("Type how many, to confirm", "10")
    page.press_in_dialog("Do it")
    page.see("10 applied")
    for key in keys:
        shop.becomes(key, "Processed")


def test_the_second_of_two_people_learns_that_it_is_done(page: Window, shop: Shop) -> None:
    (key,) = shop.failing()
    with page.another() as second:
        for each in (page, second):
            each.come_to_front()
            each.open(f"/orders/{key}")
            each.press("Resubmit charge")
            each.write(WHY, "the card is good now")
        page.come_to_front()
        page.press_in_dialog("Resubmit")
        shop.becomes(key, "Processed")
        second.come_to_front()
        second.press_in_dialog("Resubmit")
        second.see("Refused: ", f"Order {key}\nProcessed")
