"""`--env` names the deployment of a project's own file; without it, a command is for development."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepward.cli.deployment.options import Target
from stepward.domain.errors import Misconfigured


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder := tmp_path / "infra" / "environments").mkdir(parents=True)
    (tmp_path / "cdk.json").write_text("{}")
    (folder / "dev.toml").write_text('stack = "shop"\nregion = ""')
    (folder / "prod.toml").write_text('stack = "shop-prod"\nregion = "eu-west-1"')
    monkeypatch.chdir(folder)


def chosen(*, stack: str = "", env: str = "", region: str = "") -> Target:
    return Target.chosen(stack=stack, env=env, local=False, endpoint="", region=region)


@pytest.mark.parametrize(
    ("options", "stack", "region", "typed"),
    [
        ({}, "shop", "", "stepward show 1"),
        ({"env": "prod"}, "shop-prod", "eu-west-1", "stepward show 1 --stack shop-prod --region eu-west-1"),
        ({"env": "prod", "region": "eu-west-2"}, "shop-prod", "eu-west-2", "--stack shop-prod --region eu-west-2"),
        ({"stack": "stepward", "env": "prod"}, "stepward", "", "stepward show 1 --stack stepward"),
    ],
)
def test_a_command_and_what_it_suggests_are_for_the_same_deployment(
    options: dict[str, str], stack: str, region: str, typed: str
) -> None:
    """D2, D3."""
    target = chosen(**options)
    assert (target.stack, target.region) == (stack, region)
    assert target.typed("show", "1").endswith(typed)


def test_an_environment_that_is_not_there_is_refused() -> None:
    with pytest.raises(Misconfigured, match="choose dev or prod"):
        chosen(env="stage")


def test_outside_of_a_project_a_command_is_for_the_usual_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert chosen() == Target()
