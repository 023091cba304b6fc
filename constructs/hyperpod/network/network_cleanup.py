"""Delete what GuardDuty adds to a VPC before its subnets are deleted, and name what others added."""

from collections.abc import Mapping, Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from constructs.hyperpod.cluster.function_package import function_package
from constructs.hyperpod.cluster.resource_function import ResourceFunction
from constructs.hyperpod.nag import acknowledge_wildcards

PACKAGE = "network_resource"
GATEWAYS = ("EgressOnlyInternetGateway", "NatGateway", "VpcEndpoint", "VpcPeeringConnection", "VpnGateway")
LISTED = (*GATEWAYS, "NetworkAcl", "NetworkInterface", "RouteTable", "SecurityGroup", "Subnet")
OF_GUARDDUTY = {"aws:ResourceTag/GuardDutyManaged": "true"}


class NetworkCleanup(Construct):
    """Define the function that CloudFormation calls before it deletes subnets of the deployment's VPC."""

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
            _allow("ReadStackStatus", ["cloudformation:DescribeStacks"], stacks),
            _allow("DescribeNetwork", [f"ec2:Describe{each}s" for each in LISTED], "*"),
            _allow("DeleteGuardDutyEndpoint", ["ec2:DeleteVpcEndpoints"], endpoint, StringEquals=of_endpoint),
            _allow("DeleteGuardDutyGroup", ["ec2:DeleteSecurityGroup"], group, StringEquals=OF_GUARDDUTY, ArnEquals=of_vpc),
        ]
        code = function_package(self, PACKAGE)
        self._function = ResourceFunction(
            self, "Function", code=code, module="cleanup", package=PACKAGE, timeout_minutes=10, statements=statements
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


def _allow(sid: str, actions: list[str], resource: str, **conditions: Mapping[str, str | Sequence[str]]) -> iam.PolicyStatement:
    return iam.PolicyStatement(sid=sid, actions=actions, resources=[resource], conditions=conditions)
