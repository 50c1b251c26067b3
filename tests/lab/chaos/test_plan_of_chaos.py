"""S22: the seed decides the faults of a run, which cover every kind."""

import pytest

from tests.lab.chaos.plan import EVERY_SERVICE, VICTIMS, Mischief, drizzle, plan, rules, weather


def test_the_same_seed_plans_the_same_storms_and_kills() -> None:
    assert plan(180, 7) == plan(180, 7)
    assert plan(180, 7) != plan(180, 8)


def test_storms_do_not_overlap_and_end_with_the_run() -> None:
    for seed in range(50):
        storms = plan(60, seed).storms
        ends = [storm.until for storm in storms]
        assert all(end < storm.at for end, storm in zip(ends, storms[1:], strict=False))
        assert max(ends) <= 60


def test_a_long_run_meets_every_kind_of_fault_and_every_victim() -> None:
    planned = plan(3600, 1)
    assert {storm.kind for storm in planned.storms} == set(Mischief)
    assert {kill.victim for kill in planned.kills} == set(VICTIMS)


def test_the_rules_of_a_storm_come_before_those_that_always_hold() -> None:
    (storm, *_) = plan(180, 1).storms
    own = rules(storm.kind, storm.service, storm.chance)
    assert weather(storm) == [*own, *drizzle()]


@pytest.mark.parametrize("kind", Mischief)
def test_a_rule_names_one_effect_and_a_chance(kind: Mischief) -> None:
    for rule in rules(kind, EVERY_SERVICE, 0.25):
        assert rule["probability"] == 0.25
        assert len({"error", "reset", "response", "timeout_ms"} & set(rule)) == 1


def test_only_dynamodb_has_conflicts_of_transactions_and_only_sqs_doubles_messages() -> None:
    assert {rule["service"] for rule in rules(Mischief.CONFLICT, EVERY_SERVICE, 1)} == {"dynamodb"}
    assert {rule["service"] for rule in rules(Mischief.DOUBLED, EVERY_SERVICE, 1)} == {"sqs"}
