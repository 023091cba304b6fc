"""Define an EKS cluster, and the subnets of its control plane."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from config.eks import ControlPlaneLog, EksConfig, EndpointAccess
from config.operation_names import eks_log_group
from config.tags import NETWORK_TAG
from config.zones import control_plane_zones
from constructs.hyperpod.nag import acknowledge
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.service_principal import service_principal

ANYWHERE = "0.0.0.0/0"


class ControlPlaneNetwork(Construct):
    """Define two private subnets in two zones, unless the file names existing ones.

    Nodes are in one zone, but EKS requires two for the control plane. The subnets need no routes: nodes and control plane reach
    each other inside the VPC.
    """

    def __init__(self, scope: Construct, id: str, *, config: EksConfig, network: Network, node_zone_id: str) -> None:
        super().__init__(scope, id)
        self.subnet_ids = list(config.control_plane_subnet_ids)
        if self.subnet_ids:
            return
        zones = config.control_plane_zone_ids or control_plane_zones(node_zone_id)
        for number, (zone, cidr) in enumerate(zip(zones, config.control_plane_cidrs, strict=True), 1):
            subnet = ec2.CfnSubnet(
                self,
                f"Subnet{number}",
                vpc_id=network.vpc_id,
                availability_zone_id=zone,
                cidr_block=str(cidr),
                map_public_ip_on_launch=False,
            )
            cdk.Tags.of(subnet).add("Name", subnet.node.path)
            # A weak reference is resolved again only if the template changes (docs/adr/0003-weak-references.md).
            cdk.Tags.of(subnet).add(NETWORK_TAG, network.identity)
            self.subnet_ids.append(subnet.ref)
        if network.cleanup:
            network.cleanup.before_deletion_of(self.subnet_ids, self)


class EksCluster(Construct):
    """Define the EKS cluster with its role and log group; access requires an access entry."""

    def __init__(
        self, scope: Construct, id: str, *, name: str, config: EksConfig, network: Network, subnet_ids: list[str]
    ) -> None:
        super().__init__(scope, id)
        # Without it, EKS creates the group, without expiry and outside the stack.
        log_group = logs.CfnLogGroup(
            self, "LogGroup", log_group_name=eks_log_group(name), retention_in_days=config.log_retention_days
        )
        log_group.apply_removal_policy(cdk.RemovalPolicy.DESTROY)
        self._cluster = eks.CfnCluster(
            self,
            "Resource",
            name=name,
            version=config.version,
            role_arn=self._role(name).role_arn,
            resources_vpc_config=_network_of(config, network, subnet_ids),
            access_config=eks.CfnCluster.AccessConfigProperty(
                authentication_mode="API", bootstrap_cluster_creator_admin_permissions=False
            ),
            # EKS would install unmanaged ones.
            bootstrap_self_managed_addons=False,
            encryption_config=_encryption(config.secrets_key_arn),
            logging=_logging(config.logs),
            # A weak reference is resolved again only if the template changes (docs/adr/0003-weak-references.md).
            tags=[cdk.CfnTag(key=NETWORK_TAG, value=network.identity)],
        )
        self._cluster.add_resource_dependency(log_group)
        self._acknowledge(config)
        self.cluster_name = self._cluster.ref

    def _acknowledge(self, config: EksConfig) -> None:
        if config.endpoint_access is EndpointAccess.PUBLIC_AND_PRIVATE:
            ranges = ", ".join(map(str, config.public_access_cidrs)) or "all networks"
            reason = f"`eks.endpoint_access` makes the API server reachable from {ranges}; IAM controls access"
            acknowledge(self._cluster, "EKS1", reason)
        for each in (log for log in ControlPlaneLog if log not in config.logs):
            acknowledge(self._cluster, f"EKS2[LogExport::{each.value}]", "`eks.logs` of the cluster file selects the logs")

    def _role(self, name: str) -> iam.Role:
        cluster = cdk.Stack.of(self).format_arn(service="eks", resource="cluster", resource_name=name)
        role = iam.Role(
            self,
            "Role",
            description="Role of the EKS control plane",
            assumed_by=service_principal("eks.amazonaws.com", source_arn=cluster),
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name("AmazonEKSClusterPolicy")],
        )
        finding = "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AmazonEKSClusterPolicy]"
        acknowledge(role, finding, "EKS requires this policy and changes it with new features")
        return role


def _network_of(config: EksConfig, network: Network, subnet_ids: list[str]) -> eks.CfnCluster.ResourcesVpcConfigProperty:
    """Return the network; nodes and control plane share the security group, which allows all traffic within itself."""
    is_public = config.endpoint_access is EndpointAccess.PUBLIC_AND_PRIVATE
    # CloudFormation keeps the old value of a removed property.
    ranges = [str(cidr) for cidr in config.public_access_cidrs] or [ANYWHERE]
    return eks.CfnCluster.ResourcesVpcConfigProperty(
        subnet_ids=subnet_ids,
        security_group_ids=[network.security_group_id],
        endpoint_private_access=True,
        endpoint_public_access=is_public,
        public_access_cidrs=ranges if is_public else None,
    )


def _logging(types: tuple[ControlPlaneLog, ...]) -> eks.CfnCluster.LoggingProperty:
    enabled = [eks.CfnCluster.LoggingTypeConfigProperty(type=each.value) for each in types]
    return eks.CfnCluster.LoggingProperty(cluster_logging=eks.CfnCluster.ClusterLoggingProperty(enabled_types=enabled))


def _encryption(key_arn: str | None) -> list[eks.CfnCluster.EncryptionConfigProperty] | None:
    if key_arn is None:
        return None
    provider = eks.CfnCluster.ProviderProperty(key_arn=key_arn)
    return [eks.CfnCluster.EncryptionConfigProperty(provider=provider, resources=["secrets"])]
