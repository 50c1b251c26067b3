"""Fixtures of the engine's tests, for the functions, the records and the services of this application."""

from tests.integration.dynamodb.conftest import moto, moto_access
from tests.integration.handlers.conftest import deployment
from tests.integration.test_secrets import manager

__all__ = ["deployment", "manager", "moto", "moto_access"]
