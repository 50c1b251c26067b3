"""A deployed stack as its account describes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from stepward.cli.deploy_check.change import Stack
from stepward.cli.deployment.aws import Account
from stepward.cli.user_error import UserError

FUNCTION = "AWS::Lambda::Function"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was checked, whether it is good (None if an emulator cannot show it), and what was found."""

    check: str
    good: bool | None
    says: str


@dataclass(frozen=True)
class Deployed:
    """The stack of this name; `stack` is its template. Its properties raise ClientError or BotoCoreError."""

    account: Account
    name: str
    stack: Stack
    outputs: Mapping[str, str]

    @property
    def is_emulated(self) -> bool:
        """Whether it is not on AWS itself."""
        return self.account.endpoint is not None

    @cached_property
    def ids(self) -> Mapping[str, str]:
        """The name in the account of each resource, by logical id."""
        pages = self.account.client("cloudformation").get_paginator("list_stack_resources")
        found = [it for page in pages.paginate(StackName=self.name) for it in page["StackResourceSummaries"]]
        return {it["LogicalResourceId"]: it["PhysicalResourceId"] for it in found}

    @cached_property
    def functions(self) -> Sequence[Mapping[str, Any]]:
        """The configuration of each function."""
        client = self.account.client("lambda")
        names = [self.ids[logical] for logical in self.stack.of(FUNCTION)]
        return [client.get_function_configuration(FunctionName=name) for name in names]

    @cached_property
    def sources(self) -> Sequence[Mapping[str, Any]]:
        """What takes messages from a queue to a function."""
        pages = self.account.client("lambda").get_paginator("list_event_source_mappings")
        names = [it["FunctionName"] for it in self.functions]
        return [
            it for name in names for page in pages.paginate(FunctionName=name) for it in page["EventSourceMappings"]
        ]

    @property
    def agents(self) -> Sequence[Mapping[str, str]]:
        """The environment of each agent; raises UserError if it cannot be read."""
        try:
            given = [it.get("Environment", {}).get("Variables", {}) for it in self.functions]
        except (ClientError, BotoCoreError) as error:
            raise UserError(f"the functions cannot be looked at: {error}; allow it, and verify again") from error
        return [variables for variables in given if "STEPWARD_AGENT" in variables]
