"""Upload the lifecycle scripts."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as s3_assets
from aws_cdk import aws_s3_deployment as s3_deployment
from constructs import Construct

from constructs.hyperpod.cdk_internals import find_internal
from constructs.hyperpod.lifecycle.script_bucket import ScriptBucket
from constructs.hyperpod.lifecycle.script_bundle import ScriptBundle
from constructs.hyperpod.nag import acknowledge, acknowledge_wildcards

# The id of the function that all BucketDeployments of a stack share.
FUNCTION = "Custom::CDKBucketDeployment8693BB64968944B69AAFB0CC9EB8756C"


class ScriptDeployment(Construct):
    """Define the upload of the bundle and the provisioning parameters, if any, to a prefix.

    The BucketDeployment function does it, with a role that can add scripts and cannot delete any.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        bucket: ScriptBucket,
        prefix: str,
        bundle: ScriptBundle,
        parameters_file: str,
        parameters: Mapping[str, object] | None,
    ) -> None:
        super().__init__(scope, id)
        asset = self._asset(bundle)
        log_group = logs.LogGroup(
            self, "LogGroup", retention=logs.RetentionDays.ONE_MONTH, removal_policy=cdk.RemovalPolicy.DESTROY
        )
        role = self._role(bucket, asset, log_group)
        bucket.restrict_writes(role)
        deployment = s3_deployment.BucketDeployment(
            self,
            "Resource",
            sources=[
                s3_deployment.Source.bucket(asset.bucket, asset.s3_object_key),
                *([] if parameters is None else [s3_deployment.Source.json_data(parameters_file, parameters)]),
            ],
            # Imported by name, or BucketDeployment would tag the bucket with the prefix and change it with each upload.
            destination_bucket=s3.Bucket.from_bucket_name(self, "Destination", bucket.bucket_name),
            destination_key_prefix=prefix,
            retain_on_delete=True,
            prune=False,
            # BucketDeployment would add rights to delete objects and to read the whole asset bucket.
            role=role.without_policy_updates(),
            log_group=log_group,
        )
        # First restrict writes, then upload.
        deployment.node.add_dependency(cast("s3.BucketPolicy", bucket.policy))
        acknowledge(
            find_internal(self, lambda_.Function, FUNCTION),
            "L1",
            "the function and its runtime are part of aws-cdk-lib and change with its version",
        )

    def _asset(self, bundle: ScriptBundle) -> s3_assets.Asset:
        with TemporaryDirectory() as folder:  # copied into the cloud assembly at once
            bundle.write(Path(folder))
            return s3_assets.Asset(
                self, "Bundle", path=folder, asset_hash_type=cdk.AssetHashType.CUSTOM, asset_hash=bundle.fingerprint
            )

    def _role(self, bucket: ScriptBucket, asset: s3_assets.Asset, log_group: logs.LogGroup) -> iam.Role:
        assets = asset.bucket.arn_for_objects("*.zip")
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            inline_policies={"WriteScripts": iam.PolicyDocument(statements=_statements(bucket, assets, log_group))},
        )
        acknowledge_wildcards(
            role,
            {
                assets: "BucketDeployment generates the name of the parameters' asset, in the bootstrap bucket",
                bucket.scripts_arn: "prefixes contain a hash of their content; objects can be added, not deleted",
            },
        )
        return role


def _statements(bucket: ScriptBucket, assets: str, log_group: logs.LogGroup) -> list[iam.PolicyStatement]:
    return [
        iam.PolicyStatement(sid="ReadAssets", actions=["s3:GetObject"], resources=[assets]),
        iam.PolicyStatement(sid="ListScripts", actions=["s3:ListBucket"], resources=[bucket.bucket_arn]),
        iam.PolicyStatement(sid="WriteScripts", actions=["s3:PutObject"], resources=[bucket.scripts_arn]),
        iam.PolicyStatement(
            sid="WriteLogs",
            actions=["logs:CreateLogStream", "logs:PutLogEvents"],
            resources=[log_group.log_group_arn],
        ),
    ]
