"""What drains gets no new work, and is served like anything else until it is empty."""

from __future__ import annotations

from tests.infra.template import Template, joined


def test_the_template_says_what_it_serves_and_what_of_it_drains(restored: Template, production: Template) -> None:
    """D1: the next deployment is compared with that."""
    served = {
        "courier": ["carry"],
        "inventory": ["reserve"],
        "payments": ["charge"],
        "refunds": ["refund"],
        "shipping": ["recall", "ship"],
    }
    away = {"courier": ["carry"], "shipping": ["recall", "ship"]}
    kept = [template.body["Metadata"]["StepwardWorkflow"] for template in (production, restored)]
    described = {"served": served, "perCustomer": []}
    assert kept == [
        {**described, "draining": {}, "workflows": ["sample", "returns"]},
        {**described, "draining": away, "workflows": ["sample", "returns"]},
    ]


def test_a_draining_agent_keeps_its_queues_and_its_time(restored: Template, production: Template) -> None:
    """D1: for the orders in flight."""
    queues = restored.derived("scheduler", "AGENTS")
    for agent in ("courier", "shipping"):
        assert queues[agent] == restored.requests_queue(agent)
        timeouts = {
            template.properties("Lambda::Function")[template.function("agent", agent)]["Timeout"]
            for template in (restored, production)
        }
        assert 900 in timeouts
    assert "courier" in restored.priority_queues()


def test_a_draining_customer_is_served_and_named_to_no_sender(restored: Template) -> None:
    """D2: new ledgers take the queue of all customers."""
    dead_letters = joined(restored.body["Outputs"]["DeadLetterQueueUrls"]["Value"])
    queue = dead_letters["ledgers-acme"]["source"]
    assert restored.customers() == {}
    assert [function for _, source, function in restored.sources() if source == queue] == [
        restored.function("ledger", "acme")
    ]


def test_draining_shards_are_swept_and_get_nothing_new(restored: Template) -> None:
    """D2: Submission does not know of them."""
    supervisor = restored.environment(restored.function("supervisor"))
    assert (supervisor["STEPWARD_SHARDS"], supervisor["STEPWARD_DRAINING_SHARDS"]) == ("4", "9")
    assert "STEPWARD_DRAINING_SHARDS" not in restored.environment(restored.function("submission"))
