"""The buckets: for ledgers that are too large for a message, and for rejects that are too large for a row."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from stepward_cdk.queues import removal
from stepward_cdk.settings.settings import Settings


class Objects(Construct):
    """A private bucket whose objects expire after `days`.

    The stack never empties it. In development the bucket is deleted with the stack if it is empty; if not, the deletion
    fails and says so.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings, days: int) -> None:
        super().__init__(scope, construct_id)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(
                    expiration=Duration.days(days),
                    abort_incomplete_multipart_upload_after=Duration.days(1),
                )
            ],
            removal_policy=removal(settings),
        )

    def grant_put(self, function: lambda_.Function) -> None:
        """Let a function write objects, and read none."""
        function.add_to_role_policy(
            iam.PolicyStatement(actions=["s3:PutObject"], resources=[self.bucket.arn_for_objects("*")])
        )

    def grant_read(self, function: lambda_.Function) -> None:
        """Let a function read objects, and list them: without the right to list, a missing object looks forbidden."""
        function.add_to_role_policy(
            iam.PolicyStatement(actions=["s3:GetObject"], resources=[self.bucket.arn_for_objects("*")])
        )
        function.add_to_role_policy(iam.PolicyStatement(actions=["s3:ListBucket"], resources=[self.bucket.bucket_arn]))
