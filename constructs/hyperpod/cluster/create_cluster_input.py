"""Fill CreateCluster's input with values from other constructs."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from cluster_request.request import Request, RequestValues, cluster_request
from config.model import ClusterConfig
from constructs.hyperpod.cluster.orchestrator_permissions import eks_cluster_arn
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.storage.shared_storage import SharedStorage


def create_cluster_input(
    config: ClusterConfig,
    *,
    network: Network,
    storage: SharedStorage,
    scripts: LifecycleScripts,
    role: iam.IRole,
    autoscaler: iam.IRole | None = None,
) -> Request:
    """Return CreateCluster's input without ClusterName, with tokens for values that are unknown at synth."""
    values = RequestValues(
        execution_role_arn=role.role_arn,
        source_s3_uri=scripts.source_s3_uri,
        subnet_ids=network.node_subnet_ids,
        security_group_ids=[network.security_group_id],
        file_system_dns_name=storage.dns_name,
        file_system_mount_name=storage.mount_name,
        eks_cluster_arn=eks_cluster_arn(cdk.Stack.of(scripts), config),
        autoscaler_role_arn=autoscaler.role_arn if autoscaler else None,
    )
    return cluster_request(config, values=values)
