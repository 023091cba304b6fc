"""Define the permissions for KMS keys of the nodes' volumes, and for secrets with their keys."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from cluster_request.effective_request import EffectiveRequest
from config.model import ClusterConfig
from constructs.hyperpod.statement import allow

ALIAS = "alias/"


def volume_key_ids(request: EffectiveRequest) -> list[str]:
    """Return the keys of the groups' volumes, sorted and without duplicates: IDs, aliases or ARNs of either."""
    entries = (each for group in request.groups for each in group.entries("InstanceStorageConfigs"))
    keys = (each.member("EbsVolumeConfig", "VolumeKmsKeyId").text for each in entries)
    return sorted({key for key in keys if key})


def encrypt_volumes(stack: cdk.Stack, key_ids: Sequence[str]) -> list[iam.PolicyStatement]:
    """Allow AWS services to use the keys for volumes, through grants.

    IAM identifies a key by its ARN, so a key of `overrides` with an alias needs a statement of `node_role` and of the key policy.
    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
    """
    arns = [_arn(stack, each) for each in key_ids if ALIAS not in each]
    if not arns:
        return []
    return [
        allow("DescribeVolumeKeys", arns, "kms:DescribeKey"),
        allow("GrantVolumeKeys", arns, "kms:CreateGrant", Bool={"kms:GrantIsForAWSResource": "true"}),
    ]


def _arn(stack: cdk.Stack, key_id: str) -> str:
    return key_id if key_id.startswith("arn:") else stack.format_arn(service="kms", resource="key", resource_name=key_id)


def read_secrets(config: ClusterConfig, *, is_for_controllers: bool) -> list[iam.PolicyStatement]:
    """Allow the controllers to read the accounting database's password, and all nodes the directory's."""
    accounting, directory = config.slurm.accounting if config.slurm else None, config.directory
    if config.has_controller_role and not is_for_controllers:
        accounting = None
    return [
        *(_read("Accounting", accounting.secret_arn, accounting.secret_key_arn) if accounting else []),
        *(_read("Directory", directory.secret_arn, directory.secret_key_arn) if directory else []),
    ]


def _read(name: str, arn: str | None, key_arn: str | None) -> list[iam.PolicyStatement]:
    """Allow reading one secret, and decrypting it only through Secrets Manager."""
    statements = []
    if arn:
        statements.append(allow(f"Read{name}Secret", arn, "secretsmanager:GetSecretValue"))
    if key_arn:
        service = f"secretsmanager.{key_arn.split(':')[3]}.amazonaws.com"
        statements.append(allow(f"Decrypt{name}Secret", key_arn, "kms:Decrypt", StringEquals={"kms:ViaService": service}))
    return statements
