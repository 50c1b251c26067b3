"""The function of one agent, which calls one remote service."""

from __future__ import annotations

import json
from collections.abc import Sequence

from aws_cdk import ArnFormat, Stack
from constructs import Construct

from stepward_cdk.functions.worker import Parts, Worker
from stepward_cdk.permissions import READ_ONE, SEND, WRITE, allow, allow_queue, allow_secret
from stepward_cdk.settings.agent_needs import AgentNeeds


class Agent(Worker):
    """Takes the agent's requests and replies to the Scheduler; it touches no task and no order."""

    def __init__(self, scope: Construct, construct_id: str, *, needs: AgentNeeds, parts: Parts) -> None:
        queues, tables, settings = parts.queues, parts.tables, parts.settings
        requests = queues.agents[needs.name]
        super().__init__(
            scope,
            construct_id,
            parts=parts,
            handler="agent.handler",
            timeout=requests.consumer_timeout,
            in_cycle=True,
            memory_mb=needs.memory_mb,
            environment={
                **needs.environment,
                **({"STEPWARD_SECRETS": ",".join(needs.secrets)} if needs.secrets else {}),
                "STEPWARD_AGENT": needs.name,
                "STEPWARD_REQUESTS_QUEUE": requests.queue.queue_url,
                "STEPWARD_RESPONSES_QUEUE": queues.responses.queue.queue_url,
                **parts.for_rejecting,
                "STEPWARD_SHARED_RECORDS_TABLE": tables.shared_records.table_name,
                "STEPWARD_BREAKER_FAILURES": str(settings.breaker_failures),
                "STEPWARD_BREAKER_OPEN_MS": str(settings.breaker_open_ms),
                "STEPWARD_BREAKER_LONGEST_MS": str(settings.breaker_longest_ms),
                "STEPWARD_KEEP_ERROR_TEXTS": str(settings.keep_error_texts).lower(),
                "STEPWARD_SERVICE_URLS": json.dumps(dict(settings.service_urls), sort_keys=True),
            },
        )
        self.consume(requests, batch_size=needs.batch_size, max_concurrency=needs.ordinary_functions)
        if needs.priority_queue:
            urgent = queues.priority[needs.name]
            self.consume(urgent, batch_size=needs.batch_size, max_concurrency=needs.priority_functions)
        allow_queue(self.function, queues.responses.queue, SEND)
        allow(self.function, tables.shared_records, READ_ONE, WRITE)
        parts.let_reject(self.function)
        self._let_read(needs.secrets)

    def _let_read(self, secrets: Sequence[str]) -> None:
        """Let the function read these secrets; AWS adds six characters to the name that people gave each."""
        for name in secrets:
            arn = Stack.of(self).format_arn(
                service="secretsmanager",
                resource="secret",
                resource_name=f"{name}-??????",
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            )
            allow_secret(self.function, arn)
