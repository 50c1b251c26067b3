"""Each function runs as long as its work may take, as often as it may, and is told what it needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from infra.settings import AGENT_MARGIN_S, ARCHITECTURE, RUNTIME
from stepward import config
from tests.infra.sample import DEVELOPMENT, inventory, payments, refunds, shipping, workflow
from tests.infra.template import Template, target

AGENTS = ("inventory", "payments", "refunds", "shipping")


def test_every_agent_of_the_workflow_has_a_function_and_a_queue_of_its_own(template: Template) -> None:
    """S4, S5: a slow service holds up nobody else; an agent that only undoes is not forgotten."""
    served = {function: queue for _, queue, function in template.sources()}
    queues = {served[template.function("agent", agent)] for agent in AGENTS}
    assert workflow.plan().agents == AGENTS
    assert len(queues) == len(AGENTS)


def test_an_agent_may_run_as_long_as_its_longest_step_and_lambda_allow(template: Template) -> None:
    """S5, S6: complete-by ends a call, not the platform."""
    functions = template.properties("Lambda::Function")
    timeouts = {agent: functions[template.function("agent", agent)]["Timeout"] for agent in AGENTS}
    assert timeouts == {
        "inventory": 60 + AGENT_MARGIN_S,
        "payments": 120 + AGENT_MARGIN_S,
        "refunds": 120 + AGENT_MARGIN_S,
        "shipping": 900,
    }


def test_a_limit_of_the_deployment_replaces_the_steps_own(production: Template) -> None:
    """S2: 30.5 s are rounded up, never down."""
    functions = production.properties("Lambda::Function")
    assert {functions[production.function("agent", agent)]["Timeout"] for agent in AGENTS} == {31 + AGENT_MARGIN_S}


def test_an_agent_calls_its_service_only_as_often_at_once_as_its_definition_says(template: Template) -> None:
    """S5: the limit is the mapping's, so a message over the limit waits instead of being thrown back."""
    served = {function: mapping for mapping, _, function in template.sources()}
    limits = {agent: served[template.function("agent", agent)]["ScalingConfig"] for agent in AGENTS}
    assert limits["payments"] == {"MaximumConcurrency": 7}
    assert limits["refunds"] == {"MaximumConcurrency": 2}
    assert limits["inventory"] == {"MaximumConcurrency": 10}


def test_no_mapping_takes_more_messages_than_its_function_may_run(template: Template) -> None:
    """S22: throttled deliveries would use up the receives of good messages."""
    functions = template.properties("Lambda::Function")
    for mapping, queue, function in template.sources():
        limit = mapping["ScalingConfig"]["MaximumConcurrency"]
        assert 2 <= limit <= functions[function].get("ReservedConcurrentExecutions", 1000), queue


def test_an_agent_takes_one_request_at_a_time_and_the_others_a_batch(template: Template) -> None:
    """S11: an agent that dies takes no other order's request with it."""
    sizes = {function: mapping["BatchSize"] for mapping, _, function in template.sources()}
    assert {sizes[template.function("agent", agent)] for agent in AGENTS} == {1}
    assert sizes[template.function("submission")] == sizes[template.function("scheduler")] == DEVELOPMENT.batch_size


def test_an_agent_that_serves_batches_still_calls_its_service_no_more_than_its_limit(production: Template) -> None:
    """S5: fewer functions run where each makes several calls at once."""
    served = {function: mapping for mapping, _, function in production.sources()}
    for agent in (inventory, payments, refunds, shipping):
        mapping = served[production.function("agent", agent.name)]
        calls = mapping["BatchSize"] * mapping["ScalingConfig"]["MaximumConcurrency"]
        assert agent.max_concurrency // 2 < calls <= agent.max_concurrency, agent.name


def test_lambda_takes_the_cycle_of_scheduler_and_agents_for_no_runaway_loop(template: Template) -> None:
    """S22: a long order is one chain of messages; everywhere else Lambda's guard stays on."""
    functions = template.properties("Lambda::Function")
    cycle = {template.function("scheduler"), *(template.function("agent", agent) for agent in AGENTS)}
    assert {name for name, function in functions.items() if function.get("RecursiveLoop") == "Allow"} == cycle


def test_the_scheduler_takes_both_new_work_and_replies(template: Template) -> None:
    """S2, S4: starts and retries come over one queue, replies over another."""
    taken = {queue for _, queue, function in template.sources() if function == template.function("scheduler")}
    assert taken == {template.output("SchedulerQueueUrl"), template.output("ResponsesQueueUrl")}


def test_every_function_runs_the_one_runtime_and_architecture_that_the_bundle_is_made_for(template: Template) -> None:
    """S22: code for another machine fails at the first message, not at deployment."""
    for name, function in template.properties("Lambda::Function").items():
        assert function["Runtime"] == f"python{RUNTIME}", name
        assert function["Architectures"] == [ARCHITECTURE], name
        assert function["TracingConfig"] == {"Mode": "Active"}, name


def test_every_function_shares_one_bundle(template: Template) -> None:
    """S3: one workflow definition drives them all."""
    bundles = {json.dumps(it["Code"], sort_keys=True) for it in template.properties("Lambda::Function").values()}
    assert len(bundles) == 1


def test_every_function_writes_to_a_log_that_forgets(template: Template) -> None:
    """S7: long enough to look into a failed order, not for ever."""
    logs = template.properties("Logs::LogGroup")
    for name, function in template.properties("Lambda::Function").items():
        assert logs[target(function["LoggingConfig"]["LogGroup"])]["RetentionInDays"] == 30, name


def test_every_function_is_told_the_timing_of_the_deployment(template: Template) -> None:
    """S2, S12: Submission, Scheduler and Supervisor must agree on shards and waits."""
    expected = {
        "STEPWARD_SHARDS": "6",
        "STEPWARD_COMPLETE_WITHIN_MS": "0",
        "STEPWARD_CLAIM_WITHIN_MS": "61000",
        "STEPWARD_SKEW_MARGIN_MS": "6000",
        "STEPWARD_OUTAGE_AFTER_MS": "601000",
        "POWERTOOLS_SERVICE_NAME": "stepward",
        "POWERTOOLS_METRICS_NAMESPACE": "Stepward",
    }
    for function in template.of("Lambda::Function"):
        assert expected.items() <= template.environment(function).items(), function
    assert template.body["Outputs"]["Shards"]["Value"] == "6"


def test_the_scheduler_is_told_the_queue_of_every_agent(template: Template) -> None:
    """S4: and the same addresses are an output, for people and tools."""
    told = template.environment(template.function("scheduler"))["STEPWARD_AGENT_QUEUES"]
    served = {function: queue for _, queue, function in template.sources()}
    expected = {agent: served[template.function("agent", agent)] for agent in AGENTS}
    assert _joined(told) == expected
    assert _joined(template.body["Outputs"]["AgentQueueUrls"]["Value"]) == expected


def test_agents_alone_know_the_addresses_of_the_services(template: Template) -> None:
    """S14: Scheduler and Supervisor know no business operation."""
    for function in template.of("Lambda::Function"):
        variables = template.environment(function)
        assert ("ORDERS_SERVICE_URLS" in variables) == ("STEPWARD_AGENT" in variables), function
    told = template.environment(template.function("agent", "payments"))["ORDERS_SERVICE_URLS"]
    assert json.loads(told) == {"inventory": "https://inventory.example.com"}


def test_no_function_is_told_what_the_engine_does_not_read(template: Template) -> None:
    """S3: a variable with a slip in its name would be a default without a word."""
    known = Path(config.__file__).read_text(encoding="utf-8")
    for function in template.of("Lambda::Function"):
        told = [name for name in template.environment(function) if name.startswith("STEPWARD_")]
        assert [name for name in told if f'"{name}"' not in known] == []


def _joined(value: Any) -> dict[str, str]:
    """The logical ids in a JSON object that CloudFormation joins together."""
    return dict(json.loads("".join(part if isinstance(part, str) else target(part) for part in value["Fn::Join"][1])))
