"""Define the network of a cluster."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from constructs import Construct

from config.network import InternetAccess as Access
from config.network import NetworkConfig
from constructs.hyperpod.cluster.function_package import function_package
from constructs.hyperpod.cluster.resource_function import ResourceFunction
from constructs.hyperpod.nag import acknowledge_wildcards
from constructs.hyperpod.network.internet_access import InternetAccess
from constructs.hyperpod.network.node_network import NodeNetwork
from constructs.hyperpod.service_principal import service_principal
from constructs.hyperpod.statement import allow

CLEANUP_PACKAGE = "network_resource"
GATEWAYS = ("EgressOnlyInternetGateway", "NatGateway", "VpcEndpoint", "VpcPeeringConnection", "VpnGateway")
LISTED = (*GATEWAYS, "NetworkAcl", "NetworkInterface", "RouteTable", "SecurityGroup", "Subnet")
OF_GUARDDUTY = {"aws:ResourceTag/GuardDutyManaged": "true"}


class Network(Construct):
    """Define the nodes' network, in a new VPC or an existing one.

    ``NodeNetwork`` is free and retained together with the file system, whose interfaces use it. ``InternetAccess`` and
    ``FlowLogs`` cost money, are never needed by retained data, and can also be added to an existing VPC.

    ``identity`` is a hash that changes when the VPC, a subnet or the security group is replaced. References across stacks are
    weak: a template does not change with the id that it refers to, and the `cdk` command line skips unchanged templates. So
    stacks that use the network include this hash.
    """

    def __init__(self, scope: Construct, id: str, *, config: NetworkConfig, removal: cdk.RemovalPolicy) -> None:
        super().__init__(scope, id)
        self.identity = config.identity
        self.cleanup: NetworkCleanup | None = None
        self._nodes = config.existing or NodeNetwork(self, "NodeNetwork", config=config, removal=removal)
        self.vpc_id = self._nodes.vpc_id
        self.node_subnet_ids = list(self._nodes.node_subnet_ids)
        self.security_group_id = self._nodes.security_group_id
        if config.existing and config.existing.internet_access is Access.EXISTING:
            return
        self._access = InternetAccess(
            self, "InternetAccess", config=config, vpc_id=self.vpc_id, node_subnets=self._subnets_by_name()
        )
        FlowLogs(self, "FlowLogs", vpc_id=self.vpc_id, retention_days=config.flow_logs_retention_days)

    def clean_up(self, cluster: str, *, is_vpc_deleted: bool) -> None:
        """Delete what GuardDuty adds to the new VPC before the subnets that are deleted with the stack."""
        self.cleanup = NetworkCleanup(self, "Cleanup", vpc_id=self.vpc_id, cluster=cluster, is_vpc_deleted=is_vpc_deleted)
        subnets = [self._access.public_subnet.ref, *(self.node_subnet_ids if is_vpc_deleted else ())]
        resource = self.cleanup.before_deletion_of(subnets)
        if isinstance(self._nodes, NodeNetwork) and is_vpc_deleted:
            resource.node.add_dependency(self._nodes)

    def _subnets_by_name(self) -> dict[str, str]:
        """Return the subnets by a stable name: the ID, if imported."""
        if isinstance(self._nodes, NodeNetwork):
            return {"NodeSubnet": self.node_subnet_ids[0]}
        return {subnet_id: subnet_id for subnet_id in self.node_subnet_ids}


class FlowLogs(Construct):
    """Define flow logs of all traffic in a VPC, in a dedicated log group."""

    def __init__(self, scope: Construct, id: str, *, vpc_id: str, retention_days: int) -> None:
        super().__init__(scope, id)
        group = logs.CfnLogGroup(self, "LogGroup", retention_in_days=retention_days)
        group.apply_removal_policy(cdk.RemovalPolicy.DESTROY)
        writing = ("logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents")
        role = iam.Role(
            self,
            "Role",
            assumed_by=service_principal("vpc-flow-logs.amazonaws.com"),
            inline_policies={"WriteFlowLogs": iam.PolicyDocument(statements=[allow("WriteFlowLogs", group.attr_arn, *writing)])},
        )
        ec2.CfnFlowLog(
            self,
            "Resource",
            resource_id=vpc_id,
            resource_type="VPC",
            traffic_type="ALL",
            log_group_name=group.ref,
            deliver_logs_permission_arn=role.role_arn,
        )


class NetworkCleanup(Construct):
    """Define the function that CloudFormation calls before it deletes subnets of the deployment's VPC.

    It deletes what GuardDuty added to the VPC, and names what others added.
    """

    def __init__(self, scope: Construct, id: str, *, vpc_id: str, cluster: str, is_vpc_deleted: bool) -> None:
        super().__init__(scope, id)
        self._properties = {"VpcId": vpc_id, "Cluster": cluster, "DeletesVpc": is_vpc_deleted}
        arn = cdk.Stack.of(self).format_arn
        endpoint = arn(service="ec2", resource="vpc-endpoint", resource_name="*")
        group = arn(service="ec2", resource="security-group", resource_name="*")
        stacks = arn(service="cloudformation", resource="stack", resource_name=f"{cluster}-*/*")
        service = f"com.amazonaws.{cdk.Stack.of(self).region}.guardduty-data"
        of_endpoint = {**OF_GUARDDUTY, "ec2:VpceServiceName": [service, f"{service}-fips"]}
        of_vpc = {"ec2:Vpc": arn(service="ec2", resource="vpc", resource_name=vpc_id)}
        statements = [
            allow("ReadStackStatus", stacks, "cloudformation:DescribeStacks"),
            allow("DescribeNetwork", "*", *(f"ec2:Describe{each}s" for each in LISTED)),
            allow("DeleteGuardDutyEndpoint", endpoint, "ec2:DeleteVpcEndpoints", StringEquals=of_endpoint),
            allow("DeleteGuardDutyGroup", group, "ec2:DeleteSecurityGroup", StringEquals=OF_GUARDDUTY, ArnEquals=of_vpc),
        ]
        code = function_package(self, CLEANUP_PACKAGE)
        self._function = ResourceFunction(
            self, "Function", code=code, module="cleanup", package=CLEANUP_PACKAGE, timeout_minutes=10, statements=statements
        )
        reason = "GuardDuty creates it, so its ID is unknown at synth; the deletion requires GuardDuty's tag"
        reasons = {"*": "EC2's Describe actions support no resources", stacks: "stacks of this file"}
        acknowledge_wildcards(self._function.access, {**reasons, endpoint: reason, group: reason})

    def before_deletion_of(self, subnet_ids: Sequence[str], scope: Construct | None = None) -> cdk.CustomResource:
        """Define the custom resource in the stack of ``scope``, by default the network's."""
        return cdk.CustomResource(
            scope or self,
            "Cleanup" if scope else "Resource",
            resource_type="Custom::HyperPodNetworkCleanup",
            service_token=self._function.function_arn,
            service_timeout=cdk.Duration.minutes(15),
            properties={**self._properties, "SubnetIds": list(subnet_ids)},
        )
