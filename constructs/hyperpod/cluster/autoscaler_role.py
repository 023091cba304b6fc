"""Define the role of HyperPod's autoscaler."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from cluster_request.effective_request import EffectiveRequest
from config.model import ClusterConfig
from config.tags import CLUSTER_TAG
from constructs.hyperpod.cluster.key_permissions import encrypt_volumes, volume_key_ids
from constructs.hyperpod.nag import acknowledge_wildcards
from constructs.hyperpod.removal_policy import retain
from constructs.hyperpod.statement import allow

AUTOSCALER = "hyperpod.sagemaker.amazonaws.com"


class AutoscalerRole(iam.Role):
    """Define the role that HyperPod's Karpenter uses to add and delete nodes.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html
    """

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig) -> None:
        stack = cdk.Stack.of(scope)
        clusters = stack.format_arn(service="sagemaker", resource="cluster", resource_name="*")
        statements = [
            allow(
                "ScaleCluster",
                clusters,
                "sagemaker:BatchAddClusterNodes",
                "sagemaker:BatchDeleteClusterNodes",
                StringEquals={f"aws:ResourceTag/{CLUSTER_TAG}": config.name},
            ),
            *encrypt_volumes(stack, volume_key_ids(EffectiveRequest(config))),
        ]
        super().__init__(
            scope,
            id,
            description=f"Autoscaler of HyperPod cluster {config.name}",
            assumed_by=iam.ServicePrincipal(AUTOSCALER),
            inline_policies={"Autoscaler": iam.PolicyDocument(statements=statements)},
        )
        acknowledge_wildcards(
            self, {clusters: "the ARN of a cluster ends in a random ID; only clusters with this file's tag match"}
        )
        if config.keeps_cluster:
            retain(self)
