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
from constructs import Construct

from constructs.hyperpod.cluster.function_package import LAMBDA_ASSETS
from constructs.hyperpod.lifecycle.script_bucket import ScriptBucket
from constructs.hyperpod.lifecycle.script_bundle import ScriptBundle
from constructs.hyperpod.nag import acknowledge_wildcards
from constructs.hyperpod.statement import allow

UPLOAD = LAMBDA_ASSETS / "script_upload" / "index.py"


class ScriptDeployment(Construct):
    """Define the upload of the bundle and the provisioning parameters, if any, to a prefix.

    The function's role can add scripts and cannot delete any. CDK's BucketDeployment would copy what its event names, for every
    principal that may invoke functions. The code is in the template, not in an asset.
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
        # The function's environment, which is limited to 4 KiB, has only the parameters that the deployment knows.
        at_deployment = {key: value for key, value in (parameters or {}).items() if cdk.Token.is_unresolved(value)}
        known = {key: value for key, value in (parameters or {}).items() if key not in at_deployment}
        files = bundle if parameters is None else bundle.plus(parameters_file, known)
        asset = self._asset(files)
        log_group = logs.LogGroup(
            self, "LogGroup", retention=logs.RetentionDays.ONE_MONTH, removal_policy=cdk.RemovalPolicy.DESTROY
        )
        role = self._role(bucket, asset, log_group)
        bucket.restrict_writes(role)
        upload = cdk.Stack.of(self).to_json_string(
            {
                "AssetBucket": asset.s3_bucket_name,
                "AssetKey": asset.s3_object_key,
                "Sha256": files.fingerprint,
                "Bucket": bucket.bucket_name,
                "Prefix": prefix,
                "ParametersFile": "" if parameters is None else parameters_file,
                "Parameters": at_deployment,
            }
        )
        resource = cdk.CustomResource(
            self,
            "Upload",
            resource_type="Custom::LifecycleScripts",
            service_token=self._function(role, log_group, upload).function_arn,
            properties={"Upload": upload},
        )
        # First restrict writes, then upload.
        resource.node.add_dependency(cast("s3.BucketPolicy", bucket.policy))

    def _function(self, role: iam.Role, log_group: logs.LogGroup, upload: str) -> lambda_.Function:
        return lambda_.Function(
            self,
            "Function",
            code=lambda_.Code.from_inline(UPLOAD.read_text(encoding="utf-8")),
            handler=f"{UPLOAD.stem}.handler",
            runtime=lambda_.Runtime.PYTHON_3_14,
            architecture=lambda_.Architecture.ARM_64,
            # The scripts are in memory twice: packed and unpacked.
            memory_size=1024,
            timeout=cdk.Duration.minutes(5),
            environment={"UPLOAD": upload},
            role=role,
            log_group=log_group,
        )

    def _asset(self, bundle: ScriptBundle) -> s3_assets.Asset:
        with TemporaryDirectory() as folder:  # copied into the cloud assembly at once
            bundle.write(Path(folder))
            return s3_assets.Asset(
                self, "Bundle", path=folder, asset_hash_type=cdk.AssetHashType.CUSTOM, asset_hash=bundle.fingerprint
            )

    def _role(self, bucket: ScriptBucket, asset: s3_assets.Asset, log_group: logs.LogGroup) -> iam.Role:
        # The function's environment names the key. Here it would change with each upload, and IAM takes a while to apply changes.
        assets = asset.bucket.arn_for_objects("*.zip")
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            inline_policies={
                "WriteScripts": iam.PolicyDocument(
                    statements=[
                        allow("ReadAssets", assets, "s3:GetObject"),
                        allow("WriteScripts", bucket.scripts_arn, "s3:PutObject"),
                        allow("WriteLogs", log_group.log_group_arn, "logs:CreateLogStream", "logs:PutLogEvents"),
                    ]
                )
            },
        )
        acknowledge_wildcards(
            role,
            {
                assets: "the function's environment names the only asset that it copies, with its SHA-256",
                bucket.scripts_arn: "prefixes contain a hash of their content; objects can be added, not deleted",
            },
        )
        return role
