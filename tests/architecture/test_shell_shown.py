"""What the documents show of the shell beside `stepward`: make has the target, AWS the call, the stack the name."""

import re
from collections.abc import Iterable, Iterator

import botocore.session
import pytest
from botocore import xform_name

from tests.architecture.test_documents import PAGES, ROOT, read

MAKEFILES = ("Makefile", "functions/stepward/cli/new/template/Makefile.jinja")
MADE = re.compile(r"(?:^ *(?:\$ )?|`)make ([a-z][a-z-]*)((?: +[A-Z_]+=(?:\"[^\"]*\"|[^\s`]+))*)", re.MULTILINE)
ASKED = re.compile(r"\baws ([a-z0-9-]+) ((?:wait )?[a-z-]+)((?:\\\n|[^\n;#)])*)")
OF_THE_TOOL = {"query", "output", "region", "profile", "endpoint-url"}
FENCED = re.compile(r"^ *```(?:sh|bash|console)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
INFRA = "".join(file.read_text("utf-8") for file in (ROOT / "infra" / "stepward_cdk").rglob("*.py"))
SERVICES = botocore.session.Session()


def rules(makefile: str) -> dict[str, str]:
    """What make does, by target."""
    return dict(re.findall(r"^([a-z-]+):(.*(?:\n\t.*)*)", read(makefile), re.MULTILINE))


def made(page: str) -> Iterator[tuple[str, str]]:
    """Each target that the page has made, with each setting that it gives."""
    for target, settings in MADE.findall(read(page)):
        yield from ((target, name) for name in ["", *re.findall(r"([A-Z_]+)=", settings)])


def calls(page: str) -> Iterator[tuple[str, str, list[str]]]:
    """Each call of AWS: the service, what is asked of it, and the names of the options."""
    for block in FENCED.findall(read(page)):
        for service, asked, rest in ASKED.findall(block):
            yield service, asked, re.findall(r" --([a-z0-9-]+)", rest)


@pytest.mark.parametrize("page", [page for page in PAGES if any(made(page))])
def test_make_takes_what_a_page_gives_it(page: str) -> None:
    known = [rules(makefile) for makefile in MAKEFILES]

    assert [
        (target, name)
        for target, name in made(page)
        if not any(target in rule and (not name or f"({name})" in rule[target]) for rule in known)
    ] == []


@pytest.mark.parametrize("makefile", MAKEFILES)
def test_make_deploy_takes_what_a_refusal_says(makefile: str) -> None:
    """L5: in a project of one's own, too."""
    assert re.findall(r"\((ALLOW|DRAIN)\b", rules(makefile)["deploy"]) == ["ALLOW", "DRAIN"]


@pytest.mark.parametrize("page", [page for page in PAGES if any(calls(page))])
def test_aws_has_each_call_that_a_page_shows(page: str) -> None:
    """With these parameters, and no required one left out."""
    for service, asked, options in calls(page):
        shape = SERVICES.get_service_model(service).operation_model(operation(service, asked)).input_shape
        members = {xform_name(each, "-") for each in shape.members} if shape else set()
        given = {each if each in members else each.removeprefix("no-") for each in options} - OF_THE_TOOL
        required = {xform_name(each, "-") for each in shape.required_members} if shape else set()
        assert required <= given <= members, (service, asked)


def operation(service: str, asked: str) -> str:
    """The operation that the words of the command line mean; a waiter's is what it asks again and again."""
    if asked.startswith("wait "):
        waiters = SERVICES.get_waiter_model(service)
        return str(waiters.get_waiter(words(waiters.waiter_names)[asked.removeprefix("wait ")]).operation)
    return words(SERVICES.get_service_model(service).operation_names)[asked]


def words(names: Iterable[str]) -> dict[str, str]:
    """The names by their words on the command line."""
    return {xform_name(each, "-"): each for each in names}


@pytest.mark.parametrize("page", [page for page in PAGES if page != "CHANGELOG.md"])
def test_a_page_names_what_the_stack_has(page: str) -> None:
    text = read(page)
    names = re.findall(r"outputs? `(\w+)`", text) + re.findall(r"<(?:arn of )?([A-Z]\w+)>", text, re.IGNORECASE)
    assert [name for name in names if name[0].isupper() and f'"{name}"' not in INFRA] == []
