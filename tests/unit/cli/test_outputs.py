"""What a stack says of itself, as the command line understands it."""

import json

import pytest

from stepward.domain.errors import Misconfigured
from stepward.stack_outputs import DeadLetters, Deployment

QUEUES = ("OrdersQueueUrl", "SchedulerQueueUrl", "ResponsesQueueUrl", "LedgersQueueUrl", "OrderEventsQueueUrl")
TABLES = ("OrdersTableName", "TasksTableName", "RejectsTableName", "SharedRecordsTableName", "LanesTableName")
OTHERS = ("LedgersBucketName", "AlertsTopicArn", "SupervisorFunctionName")
OUTPUTS = {name: name.lower() for name in (*QUEUES, *TABLES, *OTHERS)} | {
    "CustomerLedgerQueueUrls": "{}",
    "AgentQueueUrls": "{}",
    "AgentFunctionNames": "{}",
    "Shards": "4",
}


def test_dead_letter_queues_are_known_by_the_names_of_their_queues() -> None:
    told = json.dumps({"orders": {"source": "https://a", "dead": "https://b"}})

    found = Deployment.from_outputs(OUTPUTS | {"DeadLetterQueueUrls": told})

    assert found.dead_letters == {"orders": DeadLetters("https://a", "https://b")}
    assert found.shared_records_table == "sharedrecordstablename"


def test_a_stack_that_tells_no_dead_letter_queues_can_still_be_used() -> None:
    assert Deployment.from_outputs(OUTPUTS).dead_letters == {}


@pytest.mark.parametrize("told", ['{"orders": {"source": "https://a"}}', '{"orders": "https://a"}', "[]"])
def test_dead_letter_queues_that_make_no_sense_are_named(told: str) -> None:
    with pytest.raises(Misconfigured, match="DeadLetterQueueUrls"):
        Deployment.from_outputs(OUTPUTS | {"DeadLetterQueueUrls": told})


def test_a_missing_output_is_named() -> None:
    with pytest.raises(Misconfigured, match="no output SharedRecordsTableName"):
        Deployment.from_outputs({name: value for name, value in OUTPUTS.items() if name != "SharedRecordsTableName"})
