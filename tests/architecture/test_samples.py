"""L5: the engine's tests run on a sample of their own, not on the application, which a fork replaces."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
OF_THE_APPLICATION = (
    *("architecture/orders/", "infra/orders/", "integration/orders/", "unit/orders/", "unit/demo/", "browser/", "e2e/"),
    *("lab/bad_input/", "lab/benchmarks/recovery/", "lab/chaos/", "lab/fork/", "lab/mending/orders/"),
    *("lab/side_by_side/", "lab/soak/"),
)
"""What tests the application, or runs all of it; a fork that replaces functions/orders replaces these."""
OWN = "|".join(folder.strip("/").replace("/", r"\.") for folder in OF_THE_APPLICATION)
IMPORTS = re.compile(rf"^\s*(?:from|import) (?:orders|tests\.(?:{OWN}))\b", re.MULTILINE)


def test_no_test_of_the_engine_needs_the_application() -> None:
    needing = [
        file.relative_to(TESTS).as_posix() for file in TESTS.rglob("*.py") if IMPORTS.search(file.read_text("utf-8"))
    ]

    assert IMPORTS.search("from orders.money import x")
    assert [name for name in needing if not name.startswith(OF_THE_APPLICATION)] == []


def test_the_page_for_who_replaces_the_application_names_every_folder_of_its_tests() -> None:
    page = (TESTS.parent / "CONTRIBUTING.md").read_text("utf-8")
    part = page.partition("### Your own application")[2].partition("\n##")[0]

    assert sorted(re.findall(r"`tests/([\w/]+)`", part)) == sorted(folder.strip("/") for folder in OF_THE_APPLICATION)
