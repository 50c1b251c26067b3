"""The functions of this application, as Lambda imports them."""

import submission
from tests.integration.handlers.deployment import Deployment
from tests.integration.handlers.test_submission import OTHER_SHOPS, rejects_and_goes_on


def test_messages_of_shops_that_name_no_order_are_rejected_and_their_neighbour_goes_through(
    deployment: Deployment,
) -> None:
    """Field case 28: the application's sources say what each lacks."""
    rejects_and_goes_on(deployment, submission.handler, OTHER_SHOPS)
    assert vars(submission.handler).pop("worker")
