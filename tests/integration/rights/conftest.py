"""The deployment of the functions' tests, and the template of production."""

from tests.infra.conftest import assembly, production
from tests.integration.handlers.conftest import deployment

__all__ = ["assembly", "deployment", "production"]
