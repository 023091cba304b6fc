"""Define the execution role of the nodes."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from config.model import ClusterConfig
from constructs.hyperpod.cluster.node_permissions import NodePermissions
from constructs.hyperpod.cluster.node_role_additions import add_to_role, managed_policies, permissions_boundary
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.nag import acknowledge_wildcards
from constructs.hyperpod.network.network import Network


class NodeRole(iam.Role):
    """Define the nodes' execution role, limited to this cluster's network, scripts and logs.

    AmazonSageMakerClusterInstanceRolePolicy is not attached: it allows nodes to read every bucket with the prefix ``sagemaker-``.
    The cluster depends on the role and its policies. If they were deleted first, HyperPod could not remove the nodes' network
    interfaces and the cluster would stay in Deleting.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        config: ClusterConfig,
        network: Network,
        scripts: LifecycleScripts,
        data_bucket_name: str | None,
    ) -> None:
        permissions = NodePermissions(
            cdk.Stack.of(scope), config=config, network=network, scripts=scripts, data_bucket_name=data_bucket_name
        )
        # Optional, because AWS does not document whether HyperPod sends aws:SourceAccount.
        account = {"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}} if config.trust_source_account else None
        super().__init__(
            scope,
            id,
            description=f"Execution role of the nodes of HyperPod cluster {config.name}",
            assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com", conditions=account),
            inline_policies={"Node": iam.PolicyDocument(statements=permissions.statements())},
            managed_policies=managed_policies(scope, config.node_role),
            permissions_boundary=permissions_boundary(scope, config.node_role),
        )
        acknowledge_wildcards(self, permissions.wildcards())
        add_to_role(self, config.node_role)
        # If subnets change, CloudFormation creates a new policy before it updates the cluster, and deletes this one afterwards.
        # Until then HyperPod can remove interfaces of the old cluster or of removed groups.
        interfaces = iam.Policy(self, f"Interfaces{permissions.subnets_identity}", statements=[permissions.manage_interfaces()])
        interfaces.attach_to_role(self)
        acknowledge_wildcards(interfaces, permissions.interface_wildcard())
