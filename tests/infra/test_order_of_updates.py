"""Who understands a new kind of message, record or plan is updated before who sends, writes or freezes it (D1)."""

from collections.abc import Iterator

import pytest

from tests.infra.template import Template


def _later(template: Template, function: str) -> Iterator[str]:
    """Every function that is updated before this one, directly or through others."""
    functions = template.of("Lambda::Function")
    for name in functions[function].get("DependsOn", []):
        if name in functions:
            yield name
            yield from _later(template, name)


@pytest.mark.parametrize("stack", ["template", "production"])
def test_functions_are_updated_in_the_order_in_which_they_understand_each_other(
    stack: str, request: pytest.FixtureRequest
) -> None:
    """D1, case 2: who produces a new kind of message is updated after who understands it."""
    template: Template = request.getfixturevalue(stack)
    scheduler, supervisor = template.function("scheduler"), template.function("supervisor")
    agents = {
        name for name, each in template.properties("Lambda::Function").items() if each["Handler"] == "agent.handler"
    }
    freeze = {template.function("submission"), template.function("convoy")}
    before = {name: set(_later(template, name)) for name in template.of("Lambda::Function")}

    assert agents
    assert before[scheduler] == set()
    assert before[supervisor] == {scheduler}
    assert [before[agent] for agent in agents] == [{scheduler, supervisor}] * len(agents)
    assert [before[each] for each in freeze] == [{scheduler, supervisor, *agents}] * 2
    assert {
        name for name in template.ledgers() if not before[name] >= {scheduler, supervisor, *agents, *freeze}
    } == set()


@pytest.mark.parametrize("stack", ["template", "production"])
def test_nothing_waits_for_itself(stack: str, request: pytest.FixtureRequest) -> None:
    """CloudFormation refuses a circle, among whatever resources."""
    resources = request.getfixturevalue(stack).body["Resources"]
    waits = {name: _named(resource) & resources.keys() for name, resource in resources.items()}
    while free := [name for name, wanted in waits.items() if not wanted & waits.keys()]:
        for name in free:
            del waits[name]
    assert waits == {}


def _named(value: object) -> set[str]:
    """The logical ids in DependsOn, Ref and Fn::GetAtt, at any depth; other texts name none."""
    found: set[str] = set()
    if isinstance(value, list):
        return found.union(*map(_named, value))
    if not isinstance(value, dict):
        return found
    for key, inner in value.items():
        if key in {"Ref", "DependsOn"}:
            found |= {inner} if isinstance(inner, str) else set(inner)
        elif key == "Fn::GetAtt":
            found.add(inner[0] if isinstance(inner, list) else inner.split(".")[0])
        else:
            found |= _named(inner)
    return found
