"""L5: the engine's tests run on a sample of their own, not on the application, which a fork replaces."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
OF_THE_APPLICATION = ("unit/orders/", "unit/demo/", "integration/orders/", "infra/orders/", "browser/", "e2e/", "lab/")
"""What tests the application, or runs all of it; a fork that replaces functions/orders replaces these."""
IMPORTS = re.compile(r"^\s*(?:from|import) orders\b", re.MULTILINE)


def test_no_test_of_the_engine_needs_the_application() -> None:
    needing = {
        file.relative_to(TESTS).as_posix() for file in TESTS.rglob("*.py") if IMPORTS.search(file.read_text("utf-8"))
    }

    assert {name for name in needing if not name.startswith(OF_THE_APPLICATION)} == set()
