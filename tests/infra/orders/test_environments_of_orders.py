"""The environments of this application."""

import pytest

from orders import app
from stepward_cdk.settings.agent_needs import check_addresses
from stepward_cdk.settings.chosen import in_file
from tests.infra.sample import PROJECT


@pytest.mark.parametrize("name", ["dev", "prod"])
def test_the_files_of_this_deployment_can_be_deployed(name: str) -> None:
    """D2."""
    settings = in_file(PROJECT.environment(name))
    check_addresses(app, settings.service_urls)
    assert settings.environment == name
    assert settings.lasting == (name == "prod")
