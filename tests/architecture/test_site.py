"""The site of `make docs`: what it makes from the code leaves nothing out, and no page is without a place."""

import inspect
import re
from dataclasses import fields

import pytest
from typer.main import get_command

import stepward
from docs.site import pages, picture, reference
from stepward.cli.main import app
from stepward.domain.history import HistoryKind
from stepward_cdk.settings.settings import Settings
from tests.architecture.test_documents import ROOT, read
from tests.shop import app as shop


def test_each_public_name_is_in_the_reference_with_what_it_is() -> None:
    """U4: a name without a docstring says nothing to an editor, either."""
    listed = re.findall(r"^::: (\S+)", reference.names(), re.MULTILINE)

    assert sorted(listed) == sorted(map(reference.home_of, stepward.__all__))
    made = [it for name in stepward.__all__ if inspect.isroutine(it := getattr(stepward, name)) or inspect.isclass(it)]
    assert [it for it in made if not it.__doc__] == []


def test_each_argument_of_a_public_name_is_said_something_about() -> None:
    """U4: an editor shows the docstring of what it completes. A message's fields have a page of their own."""
    every = [(name, it) for name in stepward.__all__ if callable(it := getattr(stepward, name))]
    taking = [(name, it) for name, it in every if inspect.isfunction(it) or hasattr(it, "__dataclass_fields__")]
    silent = [
        f"{name}({argument})"
        for name, it in taking
        for argument in inspect.signature(it).parameters
        if f"`{argument}" not in (it.__doc__ or "") and argument not in reference.members_of(name)
    ]

    assert len(taking) > 20
    assert sorted(silent) == ["Ignored(what)", "Operation(agent)", "Operation(name)", "Operation(run)"]  # the engine's


def test_each_command_message_and_log_line_is_in_the_reference() -> None:
    made = reference.pages(shop)

    for command in get_command(app).commands:  # type: ignore[attr-defined]
        assert f"## `stepward {command}`" in made["commands.md"]
    assert re.findall(r"^\* `[\w-]+`: .*\.\.\.$", made["commands.md"], re.MULTILINE) == []
    for kind in ("order.submitted", "return.requested", "order.signal approval", "order.status", "stepward.lane.gap"):
        assert f"### `{kind}`" in made["messages.md"]
    assert [kind for kind in HistoryKind if f"| `{kind}` |" not in made["metrics.md"]] == []
    assert [it.name for it in fields(Settings) if f"| `{it.name}` |" not in made["settings.md"]] == []
    assert "| `gap_ms` | `900000` | milliseconds |" in made["settings.md"]
    assert "| msgspec | " in made["licences.md"]
    assert "unknown" not in made["licences.md"]


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "decisions").glob("0*.md")), ids=lambda page: page.stem)
def test_each_decision_is_on_the_list(page: pytest.Item) -> None:
    assert f"]({page.name})" in read("docs/decisions/README.md")


@pytest.mark.parametrize(
    ("link", "on_the_site"),
    [
        ("[a](docs/testing.md#one)", "[a](testing.md#one)"),
        ("[`app.py`](infra/app.py)", "`app.py`"),
        ("[b](CHANGELOG.md)", "[b](changelog.md)"),
        ("[c](https://example.org/x)", "[c](https://example.org/x)"),
    ],
)
def test_a_link_leads_to_the_page_of_the_site_or_is_a_text(link: str, on_the_site: str) -> None:
    assert pages.linked(link, "README.md") == on_the_site


def test_a_page_with_a_graph_loads_the_copy_of_mermaid_that_make_docs_installs() -> None:
    """The theme would load its own from another host."""
    assert "<script src=\"{{ 'mermaid.tiny.js' | url }}\">" in read("docs/site/theme/main.html")
    assert "@cp $(MERMAID) build/pages" in read("Makefile")


def test_the_picture_of_the_parts_is_as_it_is_drawn() -> None:
    assert picture.FILE.read_text() == picture.drawn(), "run: make pictures"
