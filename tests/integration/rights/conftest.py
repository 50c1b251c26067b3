"""The deployment of the functions' tests, and the templates of a production and of a lean stack."""

from tests.infra.conftest import assembly, lean, production
from tests.integration.handlers.conftest import deployment

__all__ = ["assembly", "deployment", "lean", "production"]
