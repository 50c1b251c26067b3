"""A plain client of the services' stand-ins, services for a test, and a record of what the functions call."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import urllib3

from stepward.local.services import Services
from tests.integration.rights.recorded import recorded

HERE = Path(__file__).parent
RIGHTS = HERE / "rights" / "test_rights.py"
OF_FUNCTIONS = (HERE / "handlers", HERE / "rights", HERE / "test_secrets.py")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Compare last what the functions called with what is allowed."""
    items.sort(key=lambda item: item.path == RIGHTS)


@pytest.fixture(scope="session", autouse=True)
def _recorded() -> Iterator[None]:
    with recorded():
        yield


@pytest.fixture
def every_test_of_the_functions(request: pytest.FixtureRequest) -> None:
    """Skip a comparison to which a test of the functions would be missing: it takes all of them, in one process."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        pytest.skip("run it in one process, as make lab does")
    wanted = {path for place in OF_FUNCTIONS for path in (*place.glob("test_*.py"), place) if path.is_file()}
    present = {item.path for item in request.session.items}
    if missing := wanted - present:
        pytest.skip(f"run it with all tests of the functions: {', '.join(sorted(it.name for it in missing))}")


@dataclass(frozen=True, slots=True)
class Client:
    """Calls services without any retry; each answer is its status and its JSON."""

    services: Services
    pool: urllib3.PoolManager

    def call(
        self, key: str, *, path: str = "payments/charge", fence: int = 1, undo_of: str = "", body: Any = None
    ) -> tuple[int, dict[str, Any]]:
        headers = {"Idempotency-Key": key, "Fence": str(fence)}
        if undo_of:
            headers["Undo-Of"] = undo_of
        return self.post(f"/{path}", {} if body is None else body, headers)

    def post(self, path: str, body: Any, headers: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
        sent = {"Content-Type": "application/json", **(headers or {})}
        address = f"{self.services.endpoint}{path}"
        answer = self.pool.request("POST", address, body=json.dumps(body), headers=sent, retries=False, timeout=10)
        return answer.status, answer.json()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with Services(tmp_path / "ledger.db") as services, urllib3.PoolManager() as pool:
        yield Client(services, pool)
