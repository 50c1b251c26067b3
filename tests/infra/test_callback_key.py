"""The key of callback tokens is there only where a step is answered later, and only the Scheduler may read it."""

from __future__ import annotations

import pytest

from tests.infra.template import Template, as_list, target

READ = "secretsmanager:GetSecretValue"
VARIABLE = "STEPWARD_CALLBACK_SECRET"
SECRET = "SecretsManager::Secret"


def test_only_the_scheduler_reads_the_key_and_only_that(template: Template, production: Template) -> None:
    """W6: agents and Submission pass tokens on, and can make none."""
    for stack in (template, production):
        (secret,) = stack.of(SECRET)
        for function in stack.of("Lambda::Function"):
            serves = function == stack.function("scheduler")
            assert (secret in stack.may(function, READ)) is serves, function
            assert (VARIABLE in stack.environment(function)) is serves, function
        scheduler = stack.function("scheduler")
        assert stack.may(scheduler, READ) == {secret}
        assert {
            action for it in stack.statements(scheduler) for action in as_list(it["Action"]) if "secret" in action
        } == {READ}
        assert target(stack.environment(stack.function("scheduler"))[VARIABLE]) == secret


def test_the_key_is_made_by_aws_and_kept_in_production(template: Template, production: Template) -> None:
    """W6: nobody has to know it, and no deployment loses it."""
    for stack, policy in ((template, "Delete"), (production, "Retain")):
        (secret,) = stack.of(SECRET).values()
        assert secret["Properties"]["GenerateSecretString"] == {"ExcludePunctuation": True, "PasswordLength": 64}
        assert "SecretString" not in secret["Properties"]
        assert (secret["DeletionPolicy"], secret["UpdateReplacePolicy"]) == (policy, policy)


def test_an_application_without_such_a_step_has_no_key(restored: Template) -> None:
    """W6: and pays for none."""
    with pytest.raises(AssertionError, match=SECRET):
        restored.of(SECRET)
    assert VARIABLE not in restored.environment(restored.function("scheduler"))
    assert not [it for it in restored.properties("CloudWatch::Alarm").values() if it.get("MetricName") == "Forged"]


def test_the_first_forged_token_raises_an_alarm(template: Template) -> None:
    """W6: it may also be a genuine one, whose key was rotated away."""
    (alarm,) = [it for it in template.properties("CloudWatch::Alarm").values() if it.get("MetricName") == "Forged"]
    assert (alarm["Threshold"], alarm["EvaluationPeriods"], alarm["Namespace"]) == (1, 1, "Stepward")
