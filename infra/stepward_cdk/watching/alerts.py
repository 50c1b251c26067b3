"""The topics for people, and the event bus that sends machines the same alerts."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from stepward_cdk.queues import removal
from stepward_cdk.settings.settings import Settings

# An alarm or a rule that may not use the key publishes nothing, without an error.
PUBLISHING_SERVICES = ("cloudwatch.amazonaws.com", "events.amazonaws.com")


class Alerts(Construct):
    """Two topics, `topic` to tell people and `pages` to wake them, and the deployment's event bus.

    The functions publish to the first, CloudWatch's alarms to both. Full watching encrypts them with a key of their
    own, one for both: AWS's own key of SNS lets no alarm in. Without it SNS encrypts its disks, as it always does.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings, workflow: str) -> None:
        super().__init__(scope, construct_id)
        key = self._key(settings) if settings.full_watching else None
        self.topics = [
            sns.Topic(self, name, master_key=key, enforce_ssl=True, display_name=settings.stack)
            for name in ("Topic", "Pages")
        ]
        self.topic, self.pages = self.topics
        # A topic with its own policy loses the default one, which would let the account's alarms in.
        account = {"StringEquals": {"aws:SourceAccount": Stack.of(self).account}}
        for topic, mail in zip(self.topics, settings.subscribers, strict=True):
            topic.grant_publish(iam.ServicePrincipal("cloudwatch.amazonaws.com", conditions=account))
            if mail:
                topic.add_subscription(subscriptions.EmailSubscription(mail))
        self._bus = events.EventBus.from_event_bus_name(self, "Bus", settings.event_bus)
        self.addresses: Mapping[str, str] = {
            "STEPWARD_ALERTS_TOPIC": self.topic.topic_arn,
            "STEPWARD_EVENT_BUS": settings.event_bus,
            "STEPWARD_WORKFLOW": workflow,
        }

    def _key(self, settings: Settings) -> kms.Key:
        key = kms.Key(
            self,
            "Key",
            description=f"Encrypts the alerts of {settings.stack}",
            enable_key_rotation=True,
            removal_policy=removal(settings),
        )
        for service in PUBLISHING_SERVICES:
            key.grant(iam.ServicePrincipal(service), "kms:Decrypt", "kms:GenerateDataKey*")
        return key

    def grant_publish(self, function: lambda_.Function) -> None:
        """Let a function publish to the topic and to the bus."""
        self.topic.grant_publish(function)
        self._bus.grant_put_events_to(function)
