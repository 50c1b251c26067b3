"""The secrets of a stack on this machine: the local cloud holds them, and the stand-ins of the services demand them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import boto3

from stepward.domain.workflow.agents import Agent
from stepward.local.access import access
from stepward.local.services.request import local_secret
from stepward.secrets import DECLARED

Demanded = Mapping[str, Sequence[str]]


def demanded(agents: Sequence[Agent]) -> Demanded:
    """The names of the secrets that each service demands: those of the agents that call it."""
    found: dict[str, list[str]] = {}
    for agent in agents:
        for service in (agent.name,) if agent.services is None else agent.services:
            found.setdefault(service, []).extend(agent.secrets)
    return {service: names for service, names in found.items() if names}


def stock(template: str, endpoint: str) -> None:
    """Store every secret that a function of this template reads, unless it is there."""
    functions = [it["Properties"] for it in json.loads(template)["Resources"].values() if _is_function(it)]
    variables = [function.get("Environment", {}).get("Variables", {}) for function in functions]
    names = sorted({name for each in variables for name in str(each.get(DECLARED, "")).split(",") if name})
    if not names:
        return
    client = boto3.client("secretsmanager", **access(endpoint))
    for name in names:
        try:
            client.create_secret(Name=name, SecretString=local_secret(name))
        except client.exceptions.ResourceExistsException:
            continue
    client.close()


def _is_function(resource: Mapping[str, object]) -> bool:
    return resource["Type"] == "AWS::Lambda::Function"
