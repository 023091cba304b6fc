"""Define the execution role of the nodes."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from config.model import ClusterConfig
from config.node_role import NodeRoleConfig, StatementEffect
from constructs.hyperpod.cluster.node_permissions import NodePermissions
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.nag import acknowledge, acknowledge_wildcards
from constructs.hyperpod.network.network import Network

ADDED = "`node_role` of the cluster file"


class NodeRole(iam.Role):
    """Define the execution role of nodes or of controllers, limited to this cluster's network, scripts and logs.

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
        is_for_controllers: bool = False,
    ) -> None:
        permissions = NodePermissions(cdk.Stack.of(scope), config, network, scripts, data_bucket_name, is_for_controllers)
        nodes = "controllers" if is_for_controllers else "nodes"
        added, boundary = config.node_role, config.node_role.permissions_boundary_arn
        # Optional, because AWS does not document whether HyperPod sends aws:SourceAccount.
        account = {"StringEquals": {"aws:SourceAccount": cdk.Aws.ACCOUNT_ID}} if config.trust_source_account else None
        super().__init__(
            scope,
            id,
            description=f"Execution role of the {nodes} of HyperPod cluster {config.name}",
            assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com", conditions=account),
            inline_policies={"Node": iam.PolicyDocument(statements=permissions.statements())},
            managed_policies=[_managed(scope, f"{id}Policy{index}", arn) for index, arn in enumerate(added.managed_policy_arns)],
            permissions_boundary=_managed(scope, f"{id}PermissionsBoundary", boundary) if boundary else None,
        )
        acknowledge_wildcards(self, permissions.wildcards())
        self._add(added)
        # If subnets change, CloudFormation creates a new policy before it updates the cluster, and deletes this one afterwards.
        # Until then HyperPod can remove interfaces of the old cluster or of removed groups.
        interfaces = iam.Policy(self, f"Interfaces{permissions.subnets_identity}", statements=[permissions.manage_interfaces()])
        interfaces.attach_to_role(self)
        acknowledge_wildcards(interfaces, permissions.interface_wildcard())

    def _add(self, added: NodeRoleConfig) -> None:
        """Define a policy with the file's statements, and acknowledge findings in the file's additions."""
        for arn in added.managed_policy_arns:
            if ":iam::aws:" in arn:
                acknowledge(self, f"IAM4[Policy::{arn}]", f"{ADDED} attaches this policy of AWS")
        if not added.statements:
            return
        documents = [each.model_dump(mode="json", exclude_defaults=True) for each in added.statements]
        policy = iam.Policy(self, "Additions", statements=[iam.PolicyStatement.from_json(each) for each in documents])
        policy.attach_to_role(self)
        allowed = [each for each in added.statements if each.Effect is StatementEffect.ALLOW]
        for kind, values in (
            ("Action", [action for each in allowed for action in each.Action]),
            ("Resource", [resource for each in allowed for resource in each.Resource]),
        ):
            for value in dict.fromkeys(values):
                if "*" in value:
                    acknowledge(policy, f"IAM5[{kind}::{value}]", f"{ADDED} contains this wildcard")


def _managed(scope: Construct, id: str, arn: str) -> iam.IManagedPolicy:
    return iam.ManagedPolicy.from_managed_policy_arn(scope, id, arn)
