"""An event that is none of SQS's, such as one that somebody sends by hand in the console."""

from typing import Any

import pytest

import agent
import convoy
import ledger
import scheduler
import submission
from stepward.domain.errors import Rejected

OTHERS: list[Any] = [
    {},
    {"key1": "value1", "key2": "value2", "key3": "value3"},
    {"orderId": "ord-1", "type": "order.submitted"},
    {"Records": None},
    {"Records": "text"},
    {"Records": [{"eventSource": "aws:s3", "s3": {"object": {"key": "a"}}}]},
    {"Records": [{"EventSource": "aws:sns", "Sns": {"Message": "{}"}}]},
    {"detail-type": "x", "source": "y", "detail": {}},
    [{"messageId": "m"}],
    "text",
    None,
]


@pytest.mark.usefixtures("services")
@pytest.mark.parametrize("function", [submission, scheduler, agent, convoy, ledger])
def test_an_event_that_is_not_of_sqs_is_answered_by_what_is_expected(function: Any) -> None:
    """Field case 28."""
    for event in OTHERS:
        with pytest.raises(
            Rejected, match=r"^Records: is not that of an event of SQS: .* send the message to the func"
        ):
            function.handler(event, None)
    assert function.handler({"Records": []}, Context()) == {"batchItemFailures": []}


class Context:
    """How much time is left."""

    def get_remaining_time_in_millis(self) -> int:
        return 30_000
