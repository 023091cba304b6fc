"""The role that HyperPod and the nodes act in."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from config.model import ClusterConfig
from constructs.hyperpod.cluster.node_permissions import NodePermissions
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.nag import acknowledge_wildcards
from constructs.hyperpod.network.network import Network


class NodeRole(iam.Role):
    """Define the nodes' execution role, limited to this cluster's network, scripts and logs.

    AmazonSageMakerClusterInstanceRolePolicy is not attached: it lets each node read every bucket of the account that begins with
    ``sagemaker-``. The cluster depends on the role and on its policies, so that none can go before the cluster does: without them
    HyperPod cannot remove the nodes' interfaces, and the cluster stays in Deleting.
    """

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, network: Network, scripts: LifecycleScripts) -> None:
        permissions = NodePermissions(cdk.Stack.of(scope), config=config, network=network, scripts=scripts)
        # Nobody has shown that HyperPod sends aws:SourceAccount, hence the switch.
        account = {"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}} if config.trust_source_account else None
        super().__init__(
            scope,
            id,
            description=f"nodes of the HyperPod cluster {config.name}",
            assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com", conditions=account),
            inline_policies={"Node": iam.PolicyDocument(statements=permissions.statements())},
        )
        acknowledge_wildcards(self, permissions.wildcards())
        # Other subnets are another policy, which CloudFormation makes before it changes the cluster; it deletes this one
        # afterwards. Until then HyperPod removes the interfaces of the old cluster, or of a group that left the file.
        interfaces = iam.Policy(self, f"Interfaces{permissions.subnets_identity}", statements=[permissions.interfaces()])
        interfaces.attach_to_role(self)
        acknowledge_wildcards(interfaces, permissions.interface_wildcard())
