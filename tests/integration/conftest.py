"""A plain client of the services' stand-ins, and services for a test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import urllib3

from stepward.local.services import Services


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
