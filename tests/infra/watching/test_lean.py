"""Lean watching costs less, and leaves no way of losing work without an alarm."""

from __future__ import annotations

from stepward.domain.attention import attention
from stepward.domain.history import HistoryEntry, HistoryKind
from tests.infra.template import Template, target
from tests.infra.watching.test_alarms import LONGEST_DESCRIPTION, alarms_on
from tests.lab.benchmarks.cost.stack import shown_on

LONG_AGO = 86_400_000
FROM_ONE = "GreaterThanOrEqualToThreshold"


def test_every_dead_letter_is_counted_by_the_supervisor_or_has_an_alarm(lean: Template) -> None:
    """S22: but those of agents' requests, which the Supervisor asks for anew."""
    supervisor = lean.function("supervisor")
    given = lean.environment(supervisor)["STEPWARD_DEAD_LETTERS"]["Fn::Join"][1]
    named = {target(part) for part in given if not isinstance(part, str)}
    agents = {lean.requests_queue(agent) for agent in lean.derived("scheduler", "AGENTS")}
    agents |= set(lean.priority_queues().values())
    dead = {
        target(queue["RedrivePolicy"]["deadLetterTargetArn"])
        for logical, queue in lean.source_queues().items()
        if logical not in agents
    }
    alone = alarms_on(lean, "ApproximateNumberOfMessagesVisible")
    assert named | set(alone) == dead
    assert not named & set(alone)
    counted = lean.may(supervisor, "sqs:GetQueueAttributes")
    events = lean.output("OrderEventsQueueUrl")
    assert named | {events} == counted - agents
    assert target(lean.environment(supervisor)["STEPWARD_LANES_QUEUE"]) == events


def test_every_lean_alarm_says_what_is_wrong_and_when_it_is_over(lean: Template) -> None:
    """S7, S21."""
    for name, alarm in lean.properties("CloudWatch::Alarm").items():
        assert alarm["OKActions"] == alarm["AlarmActions"], name
        assert 20 < len(alarm["AlarmDescription"]) <= LONGEST_DESCRIPTION, name


def test_what_the_engine_sums_up_rings_at_once_and_tells_or_wakes(lean: Template) -> None:
    """S7, S12, S22."""
    topics = {"Tells": lean.output("AlertsTopicArn"), "Wakes": lean.output("PagesTopicArn")}
    for metric, topic, enough in (("Tells", "Tells", 100), ("Wakes", "Wakes", 100), ("DeadLetters", "Wakes", 1)):
        (alarm,) = alarms_on(lean, metric).values()
        assert [target(action) for action in alarm["AlarmActions"]] == [topics[topic]]
        assert (alarm["Threshold"], alarm["ComparisonOperator"], alarm["Statistic"]) == (enough, FROM_ONE, "Sum")
        assert (alarm["EvaluationPeriods"], alarm["Period"], alarm["TreatMissingData"]) == (1, 300, "notBreaching")
        assert alarm["Dimensions"] == [{"Name": "service", "Value": "orders-lean"}]


def test_the_dashboard_shows_what_is_behind_each_sum_and_who_is_behind_each_other_alarm(lean: Template) -> None:
    """S21: an alarm that says several things needs a place that says which."""
    (board,) = lean.properties("CloudWatch::Dashboard").values()
    shown = shown_on(board)
    own = {metric[1] for metric in shown if metric[0] == "Stepward"}
    summed = {kind.metric for kind in HistoryKind if attention(HistoryEntry(0, kind, value=LONG_AGO))}
    assert summed | {"Tells", "Wakes", "DeadLetters", "Overdue", "Swept"} <= own
    assert {*lean.source_queues(), *lean.of("Lambda::Function")} <= {each for it in shown for each in it[:-1]}


def test_only_full_watching_pays_for_a_key_and_for_metrics_of_the_ordinary_course(
    lean: Template, template: Template
) -> None:
    """S7, S21: AWS's own key of SNS would let no alarm in."""
    for stack, watching in ((lean, "lean"), (template, "full")):
        kinds = {resource["Type"] for resource in stack.body["Resources"].values()}
        assert ("AWS::KMS::Key" in kinds) is (watching == "full")
        for topic in stack.properties("SNS::Topic").values():
            assert ("KmsMasterKeyId" in topic) is (watching == "full")
        for function in stack.of("Lambda::Function"):
            assert stack.environment(function)["STEPWARD_WATCHING"] == watching
        assert ("STEPWARD_DEAD_LETTERS" in stack.environment(stack.function("supervisor"))) is (watching == "lean")
