"""Define the permissions for KMS keys of the nodes' volumes."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from cluster_request.effective_request import EffectiveRequest

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
    for_services = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
    return [
        iam.PolicyStatement(sid="DescribeVolumeKeys", actions=["kms:DescribeKey"], resources=arns),
        iam.PolicyStatement(sid="GrantVolumeKeys", actions=["kms:CreateGrant"], resources=arns, conditions=for_services),
    ]


def _arn(stack: cdk.Stack, key_id: str) -> str:
    return key_id if key_id.startswith("arn:") else stack.format_arn(service="kms", resource="key", resource_name=key_id)
