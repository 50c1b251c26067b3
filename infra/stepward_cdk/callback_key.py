"""The key of callback tokens, with which services end the steps that they answer later."""

from __future__ import annotations

from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from stepward.domain.workflow.application import App
from stepward_cdk.permissions import allow_secret
from stepward_cdk.queues import removal
from stepward_cdk.settings.settings import Settings

_LENGTH = 64


class CallbackKey(Construct):
    """A secret that Secrets Manager generates, and that one function may read."""

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
        super().__init__(scope, construct_id)
        self.secret = secretsmanager.Secret(
            self,
            "Secret",
            description=f"The key of the callback tokens of {settings.stack}",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=_LENGTH, exclude_punctuation=True
            ),
            removal_policy=removal(settings),
        )

    def grant_read(self, function: lambda_.Function) -> None:
        """Let a function read the key, and nothing else of the secret."""
        function.add_environment("STEPWARD_CALLBACK_SECRET", self.secret.secret_arn)
        allow_secret(function, self.secret.secret_arn)


def callback_key(scope: Construct, construct_id: str, *, app: App, settings: Settings) -> CallbackKey | None:
    """The key, only if a step of the application is answered later; one that drains is, too."""
    later = any(step.answer_within for step in app.planned())
    return CallbackKey(scope, construct_id, settings=settings) if later else None
