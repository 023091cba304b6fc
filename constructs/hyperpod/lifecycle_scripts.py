"""The scripts that turn bare nodes into a Slurm cluster, where the nodes find them."""

import hashlib
from pathlib import Path
from typing import Any

from aws_cdk import Aws, RemovalPolicy, Stack, Token
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as deployment
from constructs import Construct, IConstruct

from config.instance_group import Role
from config.model import ClusterConfig
from config.section import Removal
from constructs.hyperpod.acknowledge import acknowledge, acknowledge_wildcards, attribute
from constructs.hyperpod.identity import identity_of
from constructs.hyperpod.private_bucket import private_bucket
from constructs.hyperpod.shared_storage import SharedStorage

BUNDLE = Path(__file__).resolve().parents[2] / "lifecycle_assets"
LEFT_OUT = ["**/__pycache__", "**/*.pyc"]


class LifecycleScripts(Construct):
    """Define the bucket of the lifecycle scripts and put them there, with the parameters of this cluster.

    A changed script moves to a new prefix: under the same one, nothing would tell the cluster. Nodes that run keep the old
    prefix, which stays as long as the bucket does.
    """

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, storage: SharedStorage) -> None:
        super().__init__(scope, id)
        roles = _slurm_roles(config)
        content = identity_of(_bundle_digest(), roles, storage.identity)
        self._prefix = f"lifecycle/{content}/{storage.file_system_id or 'no-file-system'}"
        self._bucket = self._scripts_bucket(config.name)
        self._upload({**roles, **_file_system(storage)})

    @property
    def source_s3_uri(self) -> str:
        """Where the nodes find the scripts: the request's SourceS3Uri."""
        return f"s3://{self._bucket.bucket_name}/{self._prefix}/"

    def grant_read(self, grantee: iam.IRole) -> iam.Grant:
        """Let ``grantee`` read this cluster's scripts, those of earlier deployments too, and nothing else."""
        read = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["s3:GetObject"],
            resource_arns=[self._bucket.arn_for_objects("lifecycle/*")],
            conditions={"StringEquals": {"aws:ResourceAccount": Aws.ACCOUNT_ID}},
        )
        listed = iam.Grant.add_to_principal(
            grantee=grantee,
            actions=["s3:ListBucket"],
            resource_arns=[self._bucket.bucket_arn],
            conditions={"StringLike": {"s3:prefix": "lifecycle/*"}, "StringEquals": {"aws:ResourceAccount": Aws.ACCOUNT_ID}},
        )
        reason = "earlier deployments' scripts too: nodes that run were made with them"
        acknowledge_wildcards(grantee, {f"{attribute(self._bucket, 'Arn')}/lifecycle/*": reason})
        return read.combine(listed)

    def _scripts_bucket(self, name: str) -> s3.Bucket:
        """The bucket's name starts with `sagemaker-`, as AWS's own policies for HyperPod expect."""
        return private_bucket(
            self,
            "Bucket",
            removal=Removal.DESTROY,
            bucket_name=f"sagemaker-{name[:16]}-{identity_of(name)[:6]}-{Aws.ACCOUNT_ID}-{Aws.REGION}",
            why_no_access_logs="the scripts come from the repository and are read by the nodes alone",
        )

    def _upload(self, parameters: dict[str, Any]) -> None:
        log_group = logs.LogGroup(
            self, "UploadLogs", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY
        )
        upload = deployment.BucketDeployment(
            self,
            "Upload",
            sources=[
                deployment.Source.asset(str(BUNDLE), exclude=LEFT_OUT),
                deployment.Source.json_data("provisioning_parameters.json", parameters),
            ],
            destination_bucket=self._bucket,
            destination_key_prefix=self._prefix,
            prune=False,
            retain_on_delete=True,
            memory_limit=512,
            log_group=log_group,
        )
        if upload.handler_role.node.scope:
            _acknowledge_deployer(upload.handler_role.node.scope, self._bucket)


def _acknowledge_deployer(deployer: IConstruct, bucket: s3.Bucket) -> None:
    """CDK's own function for BucketDeployment: its role, its runtime and its grants are not ours to choose."""
    stack = Stack.of(bucket)
    account = "<AWS::AccountId>" if Token.is_unresolved(stack.account) else stack.account
    region = "<AWS::Region>" if Token.is_unresolved(stack.region) else stack.region
    partition = "<AWS::Partition>" if Token.is_unresolved(stack.partition) else stack.partition
    own = "CDK's own function for BucketDeployment copies from CDK's asset bucket into this one"
    acknowledge(
        deployer,
        {
            "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]": own,
            "AwsSolutions-L1": f"{own}, on the runtime that aws-cdk-lib pins for it",
        },
    )
    actions = ("s3:Abort*", "s3:DeleteObject*", "s3:GetBucket*", "s3:GetObject*", "s3:List*")
    assets = f"arn:{partition}:s3:::cdk-hnb659fds-assets-{account}-{region}/*"
    acknowledge_wildcards(deployer, dict.fromkeys((*actions, assets, f"{attribute(bucket, 'Arn')}/*"), own))


def _slurm_roles(config: ClusterConfig) -> dict[str, Any]:
    """The part of provisioning_parameters.json that the file alone says. Nothing in it changes with a count."""
    names = {role: [group.name for group in config.instance_groups if group.role is role] for role in Role}
    login = {"login_group": names[Role.LOGIN][0]} if names[Role.LOGIN] else {}
    return {
        "version": "1.0.0",
        "workload_manager": "slurm",
        "controller_group": names[Role.CONTROLLER][0],
        **login,
        "worker_groups": [
            {"instance_group_name": group.name, "partition_name": group.partition}
            for group in config.instance_groups
            if group.role is Role.COMPUTE
        ],
    }


def _file_system(storage: SharedStorage) -> dict[str, str]:
    if not storage.dns_name or not storage.mount_name:
        return {}
    return {"fsx_dns_name": storage.dns_name, "fsx_mountname": storage.mount_name}


def _bundle_digest() -> str:
    """A hash of all that the bundle's folder holds."""
    digest = hashlib.sha256()
    for path in sorted(BUNDLE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(BUNDLE).as_posix()}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
