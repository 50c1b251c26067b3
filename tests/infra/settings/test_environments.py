"""An environment's file holds its settings; what cannot work, or was forgotten, is refused before anything is made."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from stepward.domain.errors import Misconfigured
from stepward.domain.timing import minutes
from stepward.domain.workflow.agents import Agent, Call
from stepward.domain.workflow.application import App
from stepward.domain.workflow.definition import Step, Workflow
from stepward.project import Project
from stepward_cdk.settings.agent_needs import check_addresses, unfit_addresses
from stepward_cdk.settings.chosen import REQUIRED, choose
from stepward_cdk.settings.settings import Settings
from tests.infra.sample import PROJECT

DEV = """
stack = "shop"
environment = "dev"
region = ""
alert_email = ""
event_bus = "default"
shards = 4
service_urls = { payments = "https://payments.example.com" }
"""
PROD = DEV.replace('"shop"', '"shop-prod"').replace('"dev"', '"prod"').replace('l = ""', 'l = "ops@example.com"')
Files = Callable[..., Project]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """A project with these environments."""

    def write(dev: str = DEV, prod: str = PROD) -> Project:
        (folder := tmp_path / "infra" / "environments").mkdir(parents=True)
        (folder / "dev.toml").write_text(dev)
        (folder / "prod.toml").write_text(prod)
        return Project(tmp_path)

    return write


def refused(project: Project, **context: object) -> str:
    with pytest.raises(Misconfigured) as refusal:
        choose(project, {"env": "prod", **context})
    return str(refusal.value)


def test_a_run_without_options_has_the_settings_of_its_file(files: Files) -> None:
    """D2: and CDK's own context is none of its business."""
    context = {"env": "prod", "@aws-cdk/core:flag": True, "aws:cdk:version": "2", "cli-telemetry": False}
    chosen = choose(files(), context)
    assert (chosen.settings.stack, chosen.settings.alert_email, chosen.notes) == ("shop-prod", "ops@example.com", [])


def test_an_option_holds_for_one_run_and_is_told(files: Files) -> None:
    """D2."""
    chosen = choose(files(), {"env": "prod", "shards": "8", "idle_ms": 60_000, "event_bus": "default"})
    assert (chosen.settings.shards, chosen.settings.idle_ms) == (8, 60_000)
    assert chosen.notes == [
        "shards=8 for this run only; infra/environments/prod.toml says 4",
        "idle_ms=60000 for this run only; infra/environments/prod.toml leaves it at 0",
    ]


@pytest.mark.parametrize("name", REQUIRED)
def test_what_has_no_default_for_every_deployment_cannot_be_forgotten(files: Files, name: str) -> None:
    """D2, case 6: the refusal says what it is for, and where it goes."""
    says = next(item.metadata["says"] for item in fields(Settings) if item.name == name)
    kept = "".join(f"{line}\n" for line in PROD.splitlines() if not line.startswith(name))
    assert refused(files(prod=kept)) == f"infra/environments/prod.toml lacks {name} ({says}); add it"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('alert_mail = "a@b.c"', "alert_mail is no setting; did you mean alert_email?"),
        ("xyzzy = 1", "xyzzy is no setting; docs/operations.md of Stepward lists all settings"),
        ('batch_size = "10"', "batch_size = '10' is not a whole number; write it like batch_size = 4"),
        ("batch_size = true", "batch_size = True is not a whole number; write it like batch_size = 4"),
        ("draining_shards = 4", "draining_shards=4 must be more than shards=4 and at most 100, or 0"),
        ("batch_size = 11", "batch_size=11 is outside 1-10"),
        ('tracing = "yes"', "tracing = 'yes' is not true or false; write it like tracing = true"),
        ('orders_table = ["a"]', "orders_table = ['a'] is not a text; write it like orders_table = \"text\""),
        ('ledger_customers = "a,b"', "ledger_customers = 'a,b' is not a list of texts; write it like"),
        ("ledger_customers = [1]", "ledger_customers = [1] is not a list of texts; write it like"),
        ("batch_size = ?", "cannot be read: Invalid value"),
    ],
)
def test_what_a_file_gets_wrong_is_named_with_what_to_write(files: Files, line: str, told: str) -> None:
    """D2."""
    assert re.fullmatch(
        f"infra/environments/prod.toml:9:? {re.escape(told)}.*", refused(files(prod=PROD + line)), re.DOTALL
    )


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ({"env": "stage"}, "there is no infra/environments/stage.toml; choose dev or prod"),
        ({"env": ""}, "no environment is named with -c env=...; choose dev or prod"),
        ({"shard": "8"}, "-c shard=... is no setting; did you mean shards?"),
        ({"alert-email": "a@b.c"}, "-c alert-email=... is no setting; did you mean alert_email?"),
        ({"shards": "many"}, "shards='many' is not a whole number"),
        (
            {"environment": "dev"},
            (
                "-c environment=dev: infra/environments/prod.toml says prod, and no single run may change what is "
                "protected; leave the option out, or name another environment with -c env=..."
            ),
        ),
        (
            {"env": "dev", "stack": "shop-prod"},
            "-c stack=shop-prod: that stack belongs to infra/environments/prod.toml; deploy it with its own settings",
        ),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(files: Files, option: dict[str, object], told: str) -> None:
    """D2: a misspelt one would silently leave the default, and one may turn production into development."""
    assert refused(files(), **option) == told


def test_two_environments_never_share_a_stack(files: Files) -> None:
    """D2, D3: a file that was copied keeps the other one's stack until somebody changes it."""
    told = "stack shop belongs to infra/environments/dev.toml; give infra/environments/prod.toml a stack of its own"
    assert refused(files(prod=PROD.replace("shop-prod", "shop"))) == told


def test_stacks_of_one_name_may_live_in_two_regions(files: Files) -> None:
    """D3, S23."""
    elsewhere = PROD.replace("shop-prod", "shop").replace('region = ""', 'region = "eu-west-1"')
    assert choose(files(prod=elsewhere), {"env": "prod"}).settings.region == "eu-west-1"


def test_production_has_somebody_who_hears_its_alerts(files: Files) -> None:
    """D2: an address, or the explicit word for none."""
    assert refused(files(prod=PROD.replace("ops@example.com", ""))) == (
        "infra/environments/prod.toml:5: alert_email is empty, so nobody would hear of an order in Error; write an "
        "e-mail address, or 'none' if you subscribe to the stack's topics yourself (see docs/watching.md of Stepward)"
    )
    assert Settings(environment="prod", alert_email="none").lasting


def test_a_file_that_is_missing_is_asked_for(tmp_path: Path) -> None:
    """D2: a project that begins has none."""
    assert refused(Project(tmp_path)) == "there is no infra/environments/prod.toml; write it"


def _app(services: tuple[str, ...] | None) -> App:
    def charge(call: Call) -> dict[str, int]:
        return {"attempt": call.attempt}

    step = Step(Agent("payments", services=services).operation(charge), complete_within=minutes(1))
    return App("shop", [Workflow("w", 1, [step])])


@pytest.mark.parametrize(
    ("services", "addresses", "told"),
    [
        (
            None,
            {},
            (
                'service_urls: agent payments calls payments, which has no address; add payments = "https://...", or '
                "declare Agent('payments', services=()) if it needs none"
            ),
        ),
        (
            ("bank", "fraud"),
            {"bank": ""},
            (
                'service_urls: agent payments calls fraud, which has no address; add fraud = "https://...", or declare '
                "Agent('payments', services=()) if it needs none"
            ),
        ),
        (
            None,
            {"paymets": ""},
            "service_urls: agent payments calls payments, which has no address; rename paymets to payments",
        ),
        *(
            (
                None,
                {"payments": "", other: ""},
                f"service_urls: no agent calls {other}; remove it, or name it in an agent's services=(...)",
            )
            for other in ("paymets", "mail")
        ),
    ],
)
def test_every_agent_has_the_address_of_its_service_and_no_address_is_left_over(
    services: tuple[str, ...] | None, addresses: dict[str, str], told: str
) -> None:
    """D2, case 7: without one, every call fails until somebody deploys again."""
    with pytest.raises(Misconfigured) as refusal:
        check_addresses(_app(services), addresses)
    assert str(refusal.value) == told


def test_who_reads_of_an_address_reads_where_it_is(files: Files) -> None:
    """D2: the file, or the option that holds for this run."""
    project = files()
    assert choose(project, {"env": "dev"}).addresses == "infra/environments/dev.toml: service_urls"
    given = choose(project, {"env": "dev", "service_urls": "{}"})
    assert given.addresses == "-c service_urls=..."
    with pytest.raises(Misconfigured, match=re.escape("-c service_urls=...: agent payments calls payments, which")):
        check_addresses(_app(None), given.settings.service_urls, given.addresses)


def test_a_run_with_addresses_of_its_own_says_what_the_file_lacks(files: Files) -> None:
    """D2: so `make local` says what `make deploy` will refuse."""
    project = files()
    own = choose(project, {"env": "dev", "service_urls": '{"payments": "http://127.0.0.1"}'})
    (said,) = unfit_addresses(_app(("bank",)), own)
    assert said.startswith("infra/environments/dev.toml: service_urls: agent payments calls bank, which has no addr")
    assert list(unfit_addresses(_app(("bank",)), choose(project, {"env": "dev"}))) == []


def test_an_agent_may_need_no_address_or_several() -> None:
    check_addresses(_app(()), {})
    check_addresses(_app(("bank", "fraud")), {"bank": "", "fraud": ""})


def settings_table() -> str:
    """Every setting, with its default and what it is."""
    rows = [
        f"| `{item.name}` | {'required' if item.name in REQUIRED else f'`{_toml(getattr(Settings(), item.name))}`'} "
        f"| {item.metadata['says']} |"
        for item in fields(Settings)
    ]
    return "\n".join(["| setting | default | is |", "| --- | --- | --- |", *rows])


def _toml(value: object) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def test_the_page_for_operators_lists_every_setting() -> None:
    """D2: it is made from the one place where they are described; if it differs, paste what this test expects."""
    assert settings_table() in (PROJECT.root / "docs" / "operations.md").read_text()
