"""L5: the engine's tests run on a sample of their own, not on the application, which a fork replaces."""

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
OF_THE_APPLICATION = ("unit/orders/", "unit/demo/", "browser/", "e2e/", "lab/")
"""What tests the application, or runs all of it; a fork that replaces functions/orders replaces these."""
NEED_IT_STILL = {
    "architecture/test_site.py",
    "infra/settings/test_environments.py",
    "infra/test_wiring_of_functions.py",
    "integration/cli/test_cli_local_faults.py",
    "integration/dynamodb/test_item_sizes.py",
    "integration/handlers/conftest.py",
    "integration/handlers/deployment.py",
    "integration/test_keyless_service.py",
    "integration/test_order_sources.py",
    "integration/test_orders_remote.py",
    "integration/test_secrets.py",
}
"""Tests of the engine on the application's messages and entry points: none may be added (decision 0057)."""
IMPORTS = re.compile(r"^\s*(?:from|import) orders\b", re.MULTILINE)


def test_no_other_test_of_the_engine_needs_the_application() -> None:
    needing = {
        file.relative_to(TESTS).as_posix() for file in TESTS.rglob("*.py") if IMPORTS.search(file.read_text("utf-8"))
    }

    assert {name for name in needing if not name.startswith(OF_THE_APPLICATION)} == NEED_IT_STILL
