"""The AWS account, or the emulator in its place: its clients, and the outputs of a stack."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, NoCredentialsError, PartialCredentialsError
from botocore.exceptions import ConnectionError as NotReached

from stepward.cli.deployment.options import Target
from stepward.cli.terminal import typed
from stepward.cli.user_error import UserError
from stepward.local.access import REGION
from stepward.local.processes import running_cloud
from stepward.operator.rights.denials import DENIED, EXPIRED

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

_RETRIES: Any = {"mode": "standard", "total_max_attempts": 3}
_CONFIG = Config(connect_timeout=2, read_timeout=10, retries=_RETRIES)


@dataclass(frozen=True, slots=True)
class Account:
    """An account at AWS, or at `endpoint`; messages to people call it `name`."""

    name: str
    region: str
    endpoint: str | None = None

    def outputs(self, stack: str) -> Mapping[str, str]:
        """The outputs of the stack; if they cannot be read, raises UserError with what to do."""
        with self._explained(stack):
            found = self.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
        if not (outputs := found.get("Outputs")):
            raise UserError(f"stack {stack} is {found['StackStatus']} and has no outputs; deploy it, or wait for it")
        return {output["OutputKey"]: output["OutputValue"] for output in outputs}

    def template(self, stack: str) -> Mapping[str, Any] | None:
        """The template of the stack; None if there is no such stack. Raises UserError."""
        with self._explained(stack):
            client = self.client("cloudformation")
            try:
                body = client.get_template(StackName=stack, TemplateStage="Original")["TemplateBody"]
            except ClientError as error:
                if error.response["Error"].get("Code") == "ValidationError":
                    return None
                raise
        return dict(json.loads(body) if isinstance(body, str) else body)

    def alarms(self, stack: str) -> Iterator[tuple[str, str, int]]:
        """The stack's alarms that are on: the name, what it means, and since when (epoch ms); raises UserError."""
        with self._explained(stack):
            pages = self.client("cloudwatch").get_paginator("describe_alarms")
            for page in pages.paginate(AlarmNamePrefix=f"{stack}/", StateValue="ALARM"):
                for alarm in page["MetricAlarms"]:
                    since = alarm.get("StateTransitionedTimestamp") or alarm["StateUpdatedTimestamp"]
                    name = alarm["AlarmName"].removeprefix(f"{stack}/")
                    yield name, alarm.get("AlarmDescription", ""), round(since.timestamp() * 1000)

    def client(self, service: Any) -> Any:
        """A client for a service of the account."""
        return boto3.client(service, region_name=self.region, endpoint_url=self.endpoint, config=_CONFIG)

    def sqs(self) -> SQSClient:
        """A client for its queues."""
        return cast("SQSClient", self.client("sqs"))

    def s3(self) -> S3Client:
        """A client for its buckets."""
        # Behind an emulator, a host name that contains the bucket's name cannot be resolved.
        style: Any = {"addressing_style": "path" if self.endpoint else "auto"}
        config = _CONFIG.merge(Config(s3=style, read_timeout=60))
        return boto3.client("s3", region_name=self.region, endpoint_url=self.endpoint, config=config)

    @contextmanager
    def _explained(self, stack: str) -> Iterator[None]:
        try:
            yield
        except ClientError as error:
            raise UserError(self._refusal(stack, error.response["Error"].get("Code", "no code"))) from error
        except (NoCredentialsError, PartialCredentialsError) as error:
            advice = "run `aws configure`, or set AWS_PROFILE"
            raise UserError(f"no AWS credentials were found; {advice}{_or_local()}") from error
        except (NotReached, HTTPClientError) as error:
            raise UserError(f"{self.name} does not answer; check the address and the network") from error
        except (BotoCoreError, ValueError) as error:
            raise UserError(
                f"{self.name} cannot be used: {error}; check --endpoint, --region and AWS_PROFILE"
            ) from error

    def _refusal(self, stack: str, code: str) -> str:
        if code == "ValidationError":
            local = _or_local() if self.endpoint is None else ""
            return f"there is no stack {stack} in {self.name}; deploy it, or name another one with --stack{local}"
        if code in DENIED | EXPIRED:
            return f"{self.name} refuses these credentials ({code}); renew them, or name others with AWS_PROFILE"
        return f"{self.name} does not describe stack {stack}: {code}; try again"


def find_account(target: Target) -> Account:
    """The account of `target`; raises UserError if the local cloud is down, or no region is set."""
    if target.local:
        return _local_account()
    try:
        region = target.region or os.environ.get("AWS_REGION") or boto3.Session().region_name
    except BotoCoreError as error:
        raise UserError(f"{error}; correct AWS_PROFILE or your AWS settings") from error
    if not region:
        raise UserError(f"no AWS region is set; give --region, or set AWS_REGION{_or_local()}")
    return Account(target.endpoint or f"your AWS account in {region}", region, target.endpoint or None)


def _local_account() -> Account:
    server = running_cloud().server
    if server is None:
        raise UserError(f"no local cloud is running; to start one: {typed('local', 'up')}")
    # The local cloud accepts any credentials, so this process neither needs nor uses those of a real account.
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN"):
        os.environ.pop(name, None)
    no_proxy = ",".join(filter(None, [os.environ.get("NO_PROXY"), "127.0.0.1"]))
    harmless = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    os.environ.update(harmless, NO_PROXY=no_proxy, no_proxy=no_proxy)
    return Account("the local cloud", REGION, server.endpoint)


def _or_local() -> str:
    return ". A local cloud is running: add --local to use it" if running_cloud().server else ""
