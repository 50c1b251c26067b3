"""The bucket for ledgers that are too large for a message."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from stepward_cdk.queues import removal
from stepward_cdk.settings.settings import Settings


class LedgerObjects(Construct):
    """A private bucket whose objects go after a while: what they said is in the lanes by then.

    It is never emptied by the stack. In development the stack's end takes the bucket along if it is empty, and says so
    if it is not.
    """

    def __init__(self, scope: Construct, construct_id: str, *, settings: Settings) -> None:
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
                    expiration=Duration.days(settings.ledger_days),
                    abort_incomplete_multipart_upload_after=Duration.days(1),
                )
            ],
            removal_policy=removal(settings),
        )

    def may_read(self, function: lambda_.Function) -> None:
        """Its objects, and whether there is one: S3 says so only to those who may list, and denies all to others."""
        function.add_to_role_policy(
            iam.PolicyStatement(actions=["s3:GetObject"], resources=[self.bucket.arn_for_objects("*")])
        )
        function.add_to_role_policy(iam.PolicyStatement(actions=["s3:ListBucket"], resources=[self.bucket.bucket_arn]))
