"""A payment service that refuses the secret blames no order."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orders.fulfilment import API_KEY, charge
from stepward.domain.errors import Misconfigured
from stepward.local.services import Services
from stepward.local.services.request import local_secret
from stepward.service_urls import ADDRESSES
from tests.unit.orders.test_fulfilment import CALL


@pytest.fixture
def demanding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    with Services(tmp_path / "ledger.db", secrets={"payments": [API_KEY]}) as services:
        monkeypatch.setenv(ADDRESSES, json.dumps({"payments": services.url("payments")}))
        yield services


def test_a_service_that_does_not_accept_the_secret_blames_no_order_until_it_is_right(
    manager: Any, demanding: Services
) -> None:
    """D4, S20: a rotated secret is read anew, and the next attempt has its effect."""
    manager.create_secret(Name=API_KEY, SecretString="stale")
    for _ in range(2):
        with pytest.raises(Misconfigured, match="does not accept the secret payments/api-key") as refused:
            charge(CALL)
        assert "stale" not in str(refused.value)
    assert demanding.ledger.effects() == []
    manager.put_secret_value(SecretId=API_KEY, SecretString=local_secret(API_KEY))
    with pytest.raises(Misconfigured):
        charge(CALL)
    assert charge(CALL)
    assert len(demanding.ledger.effects()) == 1
