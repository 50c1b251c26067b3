import json
from dataclasses import replace

import pytest

from stepward.domain.messages import Cancel, Pause, Resubmit, Resume, SignalGiven, Undo
from stepward.wire.messages import decode_for_scheduler
from tests.integration.cli.conftest import Run, Shop
from tests.unit.cli.lives import (
    GIVEN,
    UNDOABLE,
    Life,
    approving,
    failed,
    failed_twice,
    paused,
    recovered,
    shipping,
    undo_failed,
    undone,
)

pytestmark = pytest.mark.cloud


def asked(shop: Shop) -> list[object]:
    """The commands that reached the Scheduler, without the dates that a pause and a resume must have."""
    found = [decode_for_scheduler(body) for body in shop.received(shop.connection.deployment.scheduler_queue_url)]
    dated = [message for message in found if isinstance(message, Pause | Resume)]
    assert all(message.asked_at for message in dated)
    return [replace(message, asked_at=0) if isinstance(message, Pause | Resume) else message for message in found]


@pytest.mark.parametrize(
    ("life", "words", "expected"),
    [
        (failed(), ["resubmit", "ord-1"], Resubmit("ord-1", "charge", 1, "alex", "fixed")),
        (failed_twice(), ["resubmit", "ord-1", "charge"], Resubmit("ord-1", "charge", 1, "alex", "fixed")),
        (undo_failed(), ["resubmit", "ord-1"], Resubmit("ord-1", "charge/undo", 1, "alex", "fixed")),
        (undo_failed(), ["resubmit", "ord-1", "charge/undo"], Resubmit("ord-1", "charge/undo", 1, "alex", "fixed")),
        (failed(), ["undo", "ord-1"], Undo("ord-1", "alex", "fixed")),
        (recovered(), ["cancel", "ord-1"], Cancel("ord-1", "alex", "fixed")),
        (failed(), ["pause", "ord-1"], Pause("ord-1", "alex", "fixed")),
        (paused(), ["resume", "ord-1"], Resume("ord-1", "alex", "fixed")),
    ],
)
def test_a_command_reaches_the_scheduler(run: Run, shop: Shop, life: Life, words: list[str], expected: object) -> None:
    """S7, S17: the operator resubmits, undoes, cancels, pauses and resumes."""
    shop.store(life)

    result = run(*words, "--why", "fixed", "--who", "alex", "--no-wait")

    assert result.exit_code == 0
    assert "To see the order: stepward show ord-1" in result.stdout
    assert asked(shop) == [expected]


@pytest.mark.parametrize(
    ("life", "words", "complaint"),
    [
        (recovered(), ["resubmit", "ord-1"], "no step of order ord-1 is in Error: reserve is Processed, charge is"),
        (Life().start(0), ["resubmit", "ord-1"], "reserve is Processing, charge is Pending"),
        (failed(), ["resubmit", "ord-1", "reserve"], "the step is Processed at attempt 1; in Error: charge"),
        (failed(), ["resubmit", "ord-1", "paint"], "has no step paint; its steps: "),
        (failed_twice(), ["resubmit", "ord-1"], "2 steps are in Error: reserve, charge; name one: stepward resubmit"),
        (failed(), ["resubmit", "ord-2"], "no order ord-2"),
        (failed(), ["undo", "ord-2"], "no order ord-2"),
        (undone(), ["undo", "ord-1"], "the order is Undone already (withdrawn)"),
        (shipping(), ["cancel", "ord-1"], "its point of no return"),
        (paused(), ["pause", "ord-1"], "the order is paused (asking)"),
        (failed(), ["resume", "ord-1"], "is not paused"),
    ],
)
def test_what_cannot_work_is_never_sent(run: Run, shop: Shop, life: Life, words: list[str], complaint: str) -> None:
    shop.store(life)

    result = run(*words, "--why", "fixed")

    assert result.exit_code == 1
    assert complaint in result.stderr
    assert asked(shop) == []


@pytest.mark.parametrize("command", ["resubmit", "undo", "cancel", "pause", "resume"])
def test_a_command_needs_a_reason(run: Run, shop: Shop, command: str) -> None:
    shop.store(failed())

    assert run(command, "ord-1", "--why", "  ").exit_code == 2
    assert run(command, "ord-1").exit_code == 2
    assert asked(shop) == []


@pytest.mark.parametrize("words", [["pause", "--why", "x"], ["resume", "ord-1", "--agent", "payments", "--why", "x"]])
def test_an_order_and_an_agent_exclude_each_other(run: Run, words: list[str]) -> None:
    result = run(*words)

    assert result.exit_code == 2
    assert "--agent" in result.stderr


def test_the_outcome_of_a_pause_is_awaited_and_reported(run: Run, shop: Shop) -> None:
    shop.store(Life(plan=UNDOABLE).start(0))

    with shop.at_work():
        first, second = (run("pause", "ord-1", "--why", "asking", "--who", "ada") for _ in range(2))
        resumed = run("resume", "ord-1", "--why", "agreed", "--who", "alex", "--json")

    assert "Order ord-1 is paused" in first.stdout
    assert second.exit_code == 1
    assert "the order is paused (asking)" in second.stderr
    found = json.loads(resumed.stdout)
    assert (found["command"], found["outcome"], found["state"]) == ("resume", "applied", "Processing")
    assert (found["who"], found["why"]) == ("alex", "agreed")


def test_an_undo_is_followed_to_its_end(run: Run, shop: Shop) -> None:
    """S17: the operator sees it Undone, not only begun."""
    shop.store(Life(plan=UNDOABLE).start(0))

    def compensate() -> None:
        loaded = shop.connection.store.load("ord-1")
        assert loaded is not None
        life = Life("ord-1", UNDOABLE)
        life.task = loaded.task
        assert shop.connection.store.save(life.answer("reserve/undo", 90_000).task, replaces=loaded.task)

    with shop.at_work(afterwards=compensate):
        result = run("undo", "ord-1", "--why", "withdrawn", "--who", "ada")

    assert "Order ord-1 is Undone: all its effects are compensated." in result.stdout
    assert "Undone" in run("show", "ord-1").stdout


def test_what_the_scheduler_refuses_is_reported_with_its_reason(run: Run, shop: Shop) -> None:
    """S17: the order passed its point of no return between the check and the command."""
    life = Life(plan=UNDOABLE).start(0).answer("reserve", 1_000)
    shop.store(life)

    def ship() -> None:
        replaced = life.task
        assert shop.connection.store.save(life.answer("charge", 2_000).task, replaces=replaced)

    with shop.at_work(before=ship):
        result = run("undo", "ord-1", "--why", "withdrawn", "--who", "ada")

    assert result.exit_code == 1
    assert "refused to undo order ord-1: the order is past its point of no return, ship" in result.stderr
    assert [entry.applied for entry in shop.connection.audit_log.of("ord-1")] == [False]


def test_the_audit_log_shows_who_asked_what_and_the_outcome(run: Run, shop: Shop) -> None:
    """Every task has an audit log."""
    shop.store(failed())
    assert "Nobody has given a command" in run("audit-log", "ord-1").stdout
    schedule = shop.schedule()
    run("resubmit", "ord-1", "--why", "card limit raised", "--who", "alex", "--no-wait")
    for body in shop.received(shop.connection.deployment.scheduler_queue_url) * 2:
        schedule.handle(body)

    listed, found = run("audit-log", "ord-1"), json.loads(run("audit-log", "ord-1", "--json").stdout)

    assert "resubmit charge alex card limit raised applied" in " ".join(listed.stdout.split())
    (entry,) = found["entries"]
    assert (entry["command"], entry["who"], entry["why"]) == ("resubmit", "alex", "card limit raised")
    assert (entry["applied"], entry["note"]) == (True, None)


SIGNAL = ["signal", "ord-1", "approval"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--data", '{"by":"ann"}'], GIVEN),
        (["--refuse", " fraud "], replace(GIVEN, data={}, refused="fraud")),
    ],
)
def test_an_operator_gives_a_signal_or_refuses_it(
    run: Run, shop: Shop, words: list[str], expected: SignalGiven
) -> None:
    """W2: by the operators' door, whatever the body says."""
    shop.store(approving())

    result = run(*SIGNAL, *words, "--id", "a-1", "--who", "ada", "--no-wait")

    assert result.exit_code == 0, result.stderr
    assert asked(shop) == [expected]


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        ([], 2, "or --refuse with the reason"),
        (["--data", "{}", "--refuse", "x"], 2, "or --refuse with the reason"),
        (["--data", "ann"], 2, "is not JSON"),
        (["--data", "[1]"], 2, "give a JSON object"),
        (["--data", '{"by":7}'], 1, "--data: data.by: Expected `str`, got `int`"),
        (["--data", json.dumps({"note": "x" * 2_000})], 1, "--data: data: is 2,011 bytes of JSON; the limit is 2,000"),
    ],
)
def test_data_that_no_signal_takes_is_never_sent(
    run: Run, shop: Shop, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int, complaint: str
) -> None:
    monkeypatch.setenv("STEPWARD_APP", "tests.unit.steps.test_early_signals:SHOP")
    shop.store(approving())

    result = run(*SIGNAL, *words)

    assert (result.exit_code, asked(shop)) == (code, [])
    assert complaint in " ".join(result.stderr.replace("│", "").split())


def test_a_signal_is_followed_to_its_end(run: Run, shop: Shop) -> None:
    shop.store(approving())

    with shop.at_work():
        given = run(*SIGNAL, "--data", '{"by":"ann"}', "--json")
        again = run(*SIGNAL, "--data", '{"by":"ann"}')

    assert json.loads(given.stdout)["outcome"] == "applied"
    assert "came too late: the step is Processed. To see what happened" in again.stderr
