"""What all Lambda functions have in common, made for one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from botocore.config import Config as ClientConfig

from stepward.adapters.dynamodb.rejects import DynamoRejects
from stepward.adapters.dynamodb.shared_records import DynamoSharedRecords
from stepward.adapters.dynamodb.tables import MOST_CONNECTIONS, Access, RejectItem, SharedRecordItem, bound
from stepward.adapters.sqs.queues import SqsQueues
from stepward.adapters.telemetry import PowertoolsTelemetry
from stepward.app.assembly import Assembly
from stepward.config import Config
from stepward.wiring.clock import new_id, now

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient

    from stepward.adapters.s3_bodies import S3Bodies


@dataclass(frozen=True, slots=True)
class Parts:
    """The settings of a function, its telemetry, and the clients that it makes in one session."""

    config: Config
    telemetry: PowertoolsTelemetry = field(default_factory=PowertoolsTelemetry)
    access: Access = field(init=False)
    s3: Callable[[], S3Client] = field(init=False)
    """Makes the client when it is first needed: that takes time, and few runs do."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "s3", cache(lambda: self.client("s3")))
        object.__setattr__(self, "access", Access(self.config.region))
        self.access.connect()

    @staticmethod
    def of(env: Mapping[str, str]) -> Parts:
        """The parts of a function with this environment."""
        config = Config(env)
        return Parts(config, PowertoolsTelemetry(full=config.full_watching))

    @property
    def assembly(self) -> Assembly:
        """The assembly, to which a function adds its own ports."""
        return Assembly(settings=self.config, telemetry=self.telemetry, now=now, new_id=new_id)

    def instance(self, part: str) -> str:
        """A name for this process; it goes into LockedBy."""
        return f"{part}-{new_id()}"

    def rejects(self) -> DynamoRejects:
        """The store of rejects."""
        return rejects_of(self.access, self.config.rejects_table, self.s3, self.config.rejects_bucket)

    def shared_records(self) -> DynamoSharedRecords:
        """The store of shared records."""
        return shared_records_of(self.access, self.config.shared_records_table)

    def queues(self, scheduler: str = "", responses: str = "", agents: Mapping[str, str] | None = None) -> SqsQueues:
        """The queues at these URLs."""
        priority = self.config.agent_priority_queues if agents else {}
        return SqsQueues(self.sqs(), scheduler, responses, agents or {}, self.config.backlog, priority)

    def sqs(self) -> SQSClient:
        """A client of the function's own region."""
        return cast("SQSClient", self.client("sqs"))

    def client(self, service: str, region: str = "", config: ClientConfig | None = None) -> Any:
        """A client in DynamoDB's own session: boto3 would take longer, and read the SDK's data again."""
        region, config = region or self.config.region, config or self.client_config
        return self.access.connection.session.create_client(service, region_name=region, config=config)

    @property
    def client_config(self) -> ClientConfig:
        """How long a call may take, and how often it is tried."""
        retries: Any = {"mode": "standard", "total_max_attempts": 3}
        return ClientConfig(connect_timeout=1, read_timeout=5, retries=retries, max_pool_connections=MOST_CONNECTIONS)


def rejects_of(access: Access, table: str, s3: Callable[[], S3Client], bucket: str) -> DynamoRejects:
    """The rejects in the table of this name, with their large bodies in this bucket if there is one."""

    def bodies() -> S3Bodies:
        from stepward.adapters.s3_bodies import S3Bodies  # noqa: PLC0415 - few rejects are large

        return S3Bodies(s3, bucket)

    return DynamoRejects(bound(RejectItem, table, access), now, bodies if bucket else None)


def shared_records_of(access: Access, table: str) -> DynamoSharedRecords:
    """The shared records in the table of this name."""
    return DynamoSharedRecords(bound(SharedRecordItem, table, access), new_id)
