"""Define the permissions that a cluster on EKS requires in addition.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites-iam.html lists them.
"""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from config.model import ClusterConfig
from config.tags import CLUSTER_TAG
from constructs.hyperpod.statement import allow


def eks_cluster_arn(stack: cdk.Stack, config: ClusterConfig) -> str | None:
    """Return the ARN of the EKS cluster, which its name determines; None for a Slurm cluster."""
    return _cluster(stack, config.eks_cluster_name) if config.eks_cluster_name else None


def admit_nodes(stack: cdk.Stack, cluster_name: str) -> list[iam.PolicyStatement]:
    """Allow HyperPod to create and delete the access entries of its nodes and its service, with the caller's rights."""
    return [
        allow("CreateAccessEntries", _cluster(stack, cluster_name), "eks:CreateAccessEntry", "eks:DescribeCluster"),
        allow(
            "ManageAccessEntries",
            _entries(stack, cluster_name),
            "eks:AssociateAccessPolicy",
            "eks:DeleteAccessEntry",
            "eks:DescribeAccessEntry",
        ),
    ]


def entry_wildcard(stack: cdk.Stack, cluster_name: str) -> dict[str, str]:
    """Return the reason for the wildcard in the statements on access entries."""
    return {_entries(stack, cluster_name): "ARNs of access entries end in random IDs; only entries of this EKS cluster match"}


# https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/iam-policy.md, besides what HyperPod's nodes do anyway
ASSIGN_POD_ADDRESSES = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:AttachNetworkInterface",
    "ec2:ModifyNetworkInterfaceAttribute",
    "ec2:UnassignPrivateIpAddresses",
)
"""What the VPC CNI does with network interfaces of nodes."""


def join_kubernetes(
    stack: cdk.Stack, config: ClusterConfig, *, instance: str, security_groups: list[str]
) -> list[iam.PolicyStatement]:
    """Allow nodes to join the EKS cluster, give pods addresses, pull images, and assume the roles of pods."""
    return [
        # Both actions also require the right on the interface, which is limited to the cluster's subnets.
        allow("AttachPodInterfaces", instance, "ec2:AttachNetworkInterface", "ec2:ModifyNetworkInterfaceAttribute"),
        # The VPC CNI after 1.23.1 attaches interfaces so: https://github.com/aws/amazon-vpc-cni-k8s/pull/3874
        allow(
            "AttachNodeInterfaces",
            _hyperpod_clusters(stack),
            "sagemaker:AttachClusterNodeNetworkInterface",
            StringEquals={f"aws:ResourceTag/{CLUSTER_TAG}": config.name},
        ),
        # The VPC CNI gives a node's further interfaces the security groups of its first one.
        allow("SetSecurityGroups", security_groups, "ec2:ModifyNetworkInterfaceAttribute"),
        allow(
            "DescribeNode",
            "*",
            "ec2:DescribeInstanceTypes",
            "ec2:DescribeInstances",
            "ec2:DescribeTags",
            "ecr:GetAuthorizationToken",
            "fsx:DescribeFileSystems",  # by the EFA device plugin
        ),
        # HyperPod reads the alarms that stop a software update.
        allow("ReadAlarms", _alarms(stack), "cloudwatch:DescribeAlarms"),
        allow("PullImages", _images(stack), "ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"),
        allow("AssumePodRoles", _cluster(stack, str(config.eks_cluster_name)), "eks-auth:AssumeRoleForPodIdentity"),
    ]


def join_wildcards(stack: cdk.Stack) -> dict[str, str]:
    """Return the reasons for the wildcards in the statements of nodes."""
    return {
        _hyperpod_clusters(stack): "the ARN of a cluster ends in a random ID; only clusters with this file's tag match",
        _alarms(stack): "the alarms of a software update are named in its request, which is unknown at synth",
        _images(stack): "the images of add-ons are in AWS accounts; the policies of their repositories limit who can pull them",
    }


def _cluster(stack: cdk.Stack, name: str) -> str:
    return stack.format_arn(service="eks", resource="cluster", resource_name=name)


def _hyperpod_clusters(stack: cdk.Stack) -> str:
    return stack.format_arn(service="sagemaker", resource="cluster", resource_name="*")


def _entries(stack: cdk.Stack, name: str) -> str:
    return stack.format_arn(service="eks", resource="access-entry", resource_name=f"{name}/*")


def _images(stack: cdk.Stack) -> str:
    return stack.format_arn(service="ecr", account="*", resource="repository", resource_name="*")


def _alarms(stack: cdk.Stack) -> str:
    return stack.format_arn(
        service="cloudwatch", resource="alarm", resource_name="*", arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME
    )
