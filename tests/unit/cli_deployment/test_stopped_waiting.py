"""Who stops waiting for a command learns that it was asked already."""

import pytest

from stepward.cli.following import Following
from stepward.operator.asked import Asked, CommandOutcome


def test_a_wait_that_is_interrupted_says_what_was_asked_already(capsys: pytest.CaptureFixture[str]) -> None:
    def stop(_: object) -> CommandOutcome | None:
        raise KeyboardInterrupt

    following = Following[None](
        asked=Asked("undo", "", 0, "ada", "withdrawn"),
        order="ord-1",
        workflow="fulfilment",
        whom="the Scheduler",
        what="undo ord-1",
        hint="To look: stepward show ord-1",
        about={},
        seen=None,
        look=lambda: None,
        outcome=stop,
        state=lambda _: {},
    )

    with pytest.raises(KeyboardInterrupt):
        following.follow(lambda: 0, wait=True, as_json=False)
    assert "the Scheduler was asked to undo ord-1, and may still do it. To look:" in capsys.readouterr().err
