"""Each function has the time, the concurrency and the settings that it needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepward import config, secrets, service_urls
from stepward_cdk.settings.reply_queues import MAX_TEXT
from stepward_cdk.settings.settings import AGENT_MARGIN_S, ARCHITECTURE, MAX_REQUEST_QUEUES, RUNTIME
from tests.infra.sample import ADDRESSES, AGENTS, DEVELOPMENT, courier, inventory, payments, refunds, shipping, workflow
from tests.infra.template import Template, joined, target

LAMBDAS_LIMIT = 4096
LONGEST_AGENT = 30
LONGEST_NAME = 140  # of what CloudFormation names: a queue's URL with the longest name that SQS takes


def test_every_agent_of_the_workflow_has_a_function_and_a_queue_of_its_own(template: Template) -> None:
    """S4, S5, S21: a slow service holds up nobody else; agents of undos and fallbacks have theirs, too."""
    served = {queue: function for _, queue, function in template.sources()}
    assert workflow.plan().agents == AGENTS
    for agent in AGENTS:
        assert served[template.requests_queue(agent)] == template.function("agent", agent)
    assert len({template.requests_queue(agent) for agent in AGENTS}) == len(AGENTS)


def test_only_an_agent_that_asks_for_a_priority_queue_has_one_and_its_function_takes_both(template: Template) -> None:
    """S21: urgent requests do not wait behind the others, and are served by the same code."""
    urgent = template.priority_queues()
    assert set(urgent) == {"courier", "payments"}
    for agent in AGENTS:
        function = template.function("agent", agent)
        taken = {queue for _, queue, served in template.sources() if served == function}
        assert taken == {template.requests_queue(agent)} | ({urgent[agent]} if agent in urgent else set())


def test_an_agent_may_run_as_long_as_its_longest_step_and_lambda_allow(template: Template) -> None:
    """S5, S6: complete-by ends a call, not the platform."""
    functions = template.properties("Lambda::Function")
    timeouts = {agent: functions[template.function("agent", agent)]["Timeout"] for agent in AGENTS}
    assert timeouts == {
        "courier": 900,
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
    limits = {agent: _concurrency(template, template.requests_queue(agent)) for agent in AGENTS}
    urgent = {agent: _concurrency(template, queue) for agent, queue in template.priority_queues().items()}
    assert limits == {"courier": 6, "inventory": 2, "payments": 5, "refunds": 2, "shipping": 2}
    assert urgent == {"courier": 2, "payments": 2}


def test_no_mapping_takes_more_messages_than_its_function_may_run(template: Template) -> None:
    """S22: throttled deliveries would use up the receives of good messages."""
    functions = template.properties("Lambda::Function")
    for mapping, queue, function in template.sources():
        limit = mapping["ScalingConfig"]["MaximumConcurrency"]
        assert 2 <= limit <= functions[function].get("ReservedConcurrentExecutions", 1000), queue


def test_an_agent_takes_as_many_requests_as_leave_two_functions_and_the_others_a_batch(template: Template) -> None:
    """S5, S11: up to five, and never all that its service may get at once."""
    sizes = {function: mapping["BatchSize"] for mapping, _, function in template.sources()}
    taken = {agent: sizes[template.function("agent", agent)] for agent in AGENTS}
    assert taken == {"courier": 5, "inventory": 5, "payments": 1, "refunds": 1, "shipping": 5}
    assert sizes[template.function("submission")] == sizes[template.function("scheduler")] == DEVELOPMENT.batch_size


def test_an_agent_that_serves_batches_still_calls_its_service_no_more_than_its_limit(production: Template) -> None:
    """S5, S21: fewer functions run where each makes several calls at once, over both queues together."""
    for agent in (inventory, payments, refunds, shipping, courier):
        function = production.function("agent", agent.name)
        taken = [mapping for mapping, _, served in production.sources() if served == function]
        calls = sum(mapping["BatchSize"] * mapping["ScalingConfig"]["MaximumConcurrency"] for mapping in taken)
        assert agent.max_concurrency // 2 < calls <= agent.max_concurrency, agent.name


def test_lambda_does_not_take_the_cycle_of_scheduler_and_agents_for_a_runaway_loop(template: Template) -> None:
    """S22: a long order is one chain of messages, as is one that is sent anew; elsewhere Lambda's guard stays on."""
    functions = template.properties("Lambda::Function")
    engine = {template.function(name) for name in ("scheduler", "submission")}
    cycle = {*engine, *(template.function("agent", agent) for agent in AGENTS)}
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


def test_functions_are_traced_only_where_the_deployment_asks_for_it(template: Template, production: Template) -> None:
    """S21: each trace is billed."""
    assert all("TracingConfig" not in function for function in template.properties("Lambda::Function").values())
    for name, function in production.properties("Lambda::Function").items():
        assert function["TracingConfig"] == {"Mode": "Active"}, name


def test_lambda_itself_logs_only_runs_that_went_wrong(template: Template) -> None:
    """S21: what it logs of all others would be billed, and says nothing of an order."""
    for name, function in template.properties("Lambda::Function").items():
        logging = function["LoggingConfig"]
        assert (logging["LogFormat"], logging["SystemLogLevel"]) == ("JSON", "WARN"), name
        assert logging["ApplicationLogLevel"] == "INFO", name


def test_every_function_shares_one_bundle(template: Template) -> None:
    """S3: one workflow definition drives them all."""
    bundles = {json.dumps(it["Code"], sort_keys=True) for it in template.properties("Lambda::Function").values()}
    assert len(bundles) == 1


def test_every_function_writes_to_a_log_that_forgets(template: Template) -> None:
    """S7: long enough to look into a failed order, but not endlessly."""
    logs = template.properties("Logs::LogGroup")
    for name, function in template.properties("Lambda::Function").items():
        assert logs[target(function["LoggingConfig"]["LogGroup"])]["RetentionInDays"] == 30, name


def test_every_function_has_the_timing_of_the_deployment(template: Template) -> None:
    """S2, S12: Submission, Scheduler and Supervisor must agree on shards and waits."""
    expected = {
        "STEPWARD_SHARDS": "6",
        "STEPWARD_COMPLETE_WITHIN_MS": "0",
        "STEPWARD_CLAIM_WITHIN_MS": "61000",
        "STEPWARD_SKEW_MARGIN_MS": "6000",
        "STEPWARD_OUTAGE_AFTER_MS": "601000",
        "POWERTOOLS_SERVICE_NAME": "orders-dev",
        "POWERTOOLS_METRICS_NAMESPACE": "Stepward",
    }
    for function in template.of("Lambda::Function"):
        assert expected.items() <= template.environment(function).items(), function
    assert template.body["Outputs"]["Shards"]["Value"] == "6"


def test_people_and_the_functions_that_tell_them_know_the_names_of_the_workflows(template: Template) -> None:
    """S17, W1: an order id alone addresses an order of the default workflow."""
    for name in ("scheduler", "supervisor", "convoy"):
        assert template.environment(template.function(name))["STEPWARD_WORKFLOW"] == "sample"
    outputs = {name: output["Value"] for name, output in template.body["Outputs"].items()}
    types = ["order.submitted", "return.submitted"]
    assert json.loads(outputs["Workflows"]) == {"names": ["sample", "returns"], "perCustomer": [], "types": types}
    assert template.body["Description"] == "Stepward: sample version 3, returns version 2"
    (board,) = template.properties("CloudWatch::Dashboard").values()
    shown = json.dumps(board["DashboardBody"])
    assert all(f"orders-dev: {name}, version" in shown for name in ("sample", "returns"))


def test_scheduler_and_supervisor_have_the_queue_of_every_agent(template: Template) -> None:
    """S4: and the same addresses are an output, for people and tools."""
    expected = {agent: template.requests_queue(agent) for agent in AGENTS}
    for name in ("scheduler", "supervisor"):
        assert template.derived(name, "AGENTS") == expected
        assert set(template.derived(name, "PRIORITY_AGENTS", "-high")) == {"courier", "payments"}
    assert joined(template.body["Outputs"]["AgentQueueUrls"]["Value"]) == expected


def test_who_decides_about_tasks_has_the_shared_records_and_the_event_bus(production: Template) -> None:
    """S7, S15, S16."""
    for name in ("scheduler", "supervisor"):
        given = production.environment(production.function(name))
        assert target(given["STEPWARD_SHARED_RECORDS_TABLE"]) == production.output("SharedRecordsTableName")
        assert (given["STEPWARD_EVENT_BUS"], given["STEPWARD_FINISHED_DAYS"]) == ("orders", "90")
    assert production.environment(production.function("supervisor"))["STEPWARD_LEASE_MS"] == "300000"


def test_an_agent_has_the_shared_records_and_the_limits_of_its_breaker(production: Template) -> None:
    """S20."""
    for agent in AGENTS:
        given = production.environment(production.function("agent", agent))
        assert target(given["STEPWARD_SHARED_RECORDS_TABLE"]) == production.output("SharedRecordsTableName")
        limits = [given[f"STEPWARD_BREAKER_{name}"] for name in ("FAILURES", "OPEN_MS", "LONGEST_MS")]
        assert limits == ["20", "30000", "600000"]


def test_a_backlog_is_more_than_the_busiest_agent_can_have_in_work(template: Template) -> None:
    """S22: with fewer waiting, every request has been tried, and its failure counts."""
    assert template.environment(template.function("supervisor"))["STEPWARD_BACKLOG"] == str(courier.max_concurrency)


def test_every_environment_fits_what_lambda_gives(
    template: Template, production: Template, wide: Template, lean: Template
) -> None:
    """S4: whatever names CloudFormation chooses."""
    for stack in (template, production, wide, lean):
        for function in stack.of("Lambda::Function"):
            given = stack.environment(function)
            assert sum(len(name) + _size(value) for name, value in given.items()) <= LAMBDAS_LIMIT, function


def test_the_fullest_environment_fits_what_lambda_gives(production: Template, lean: Template) -> None:
    """S4: with as many queues and as long a list of reply queues as are allowed, whatever CloudFormation names them."""
    for stack, name in ((production, "scheduler"), (production, "supervisor"), (lean, "supervisor")):
        assert _fullest(stack.environment(stack.function(name))) <= LAMBDAS_LIMIT, name


def _fullest(given: Mapping[str, Any]) -> int:
    variable = ["STEPWARD_AGENTS", "STEPWARD_PRIORITY_AGENTS"]
    variable += ["STEPWARD_REPLY_ACCOUNTS", "STEPWARD_REPLY_REGIONS", "STEPWARD_REPLY_PREFIXES"]
    fixed = sum(len(name) + (0 if name in variable else _size(value)) for name, value in given.items())
    return fixed + MAX_REQUEST_QUEUES * (LONGEST_AGENT + 1) + MAX_TEXT


def test_agents_alone_know_the_addresses_of_the_services(template: Template) -> None:
    """S14: Scheduler and Supervisor know no business operation."""
    for function in template.of("Lambda::Function"):
        variables = template.environment(function)
        assert ("STEPWARD_SERVICE_URLS" in variables) == ("STEPWARD_AGENT" in variables), function
    given = template.environment(template.function("agent", "payments"))["STEPWARD_SERVICE_URLS"]
    assert json.loads(given) == ADDRESSES


def test_no_function_has_a_setting_that_the_engine_does_not_read(template: Template) -> None:
    """S3: a variable with a misspelt name would silently leave the default."""
    known = "".join(Path(str(it.__file__)).read_text(encoding="utf-8") for it in (config, secrets, service_urls))
    for function in template.of("Lambda::Function"):
        given = [name for name in template.environment(function) if name.startswith("STEPWARD_")]
        assert [name for name in given if f'"{name}"' not in known] == []


def _concurrency(template: Template, queue: str) -> int:
    return int(template.mapping(queue)["ScalingConfig"]["MaximumConcurrency"])


def _size(value: Any) -> int:
    """The length of a text whose parts CloudFormation may fill in."""
    if isinstance(value, str):
        return len(value)
    parts = value["Fn::Join"][1] if "Fn::Join" in value else [value]
    return sum(len(part) if isinstance(part, str) else LONGEST_NAME for part in parts)
