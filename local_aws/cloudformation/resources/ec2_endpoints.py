"""EC2: VPC endpoints and flow logs."""

from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.resources.ec2 import retag, tag_specification
from local_aws.cloudformation.resources.provider import Context, Provider, changed, document, pick, tolerate
from local_aws.cloudformation.template import Json
from local_aws.iam import role_allows, role_trusts

LISTS = {"RouteTableIds": "RouteTableIds", "SubnetIds": "SubnetIds", "SecurityGroupIds": "SecurityGroupIds"}
FLOW_LOGS = "vpc-flow-logs.amazonaws.com"


class VpcEndpoint(Provider):
    """AWS::EC2::VPCEndpoint, Gateway or Interface. The policy is stored but not evaluated."""

    type = "AWS::EC2::VPCEndpoint"
    acts_on = (
        "PolicyDocument",
        "PrivateDnsEnabled",
        "RouteTableIds",
        "SecurityGroupIds",
        "ServiceName",
        "SubnetIds",
        "Tags",
        "VpcEndpointType",
        "VpcId",
    )

    def create(self, context: Context, properties: Json) -> str:
        """Create the endpoint and return its id."""
        arguments = pick(properties, "VpcEndpointType", "PrivateDnsEnabled", *LISTS)
        if "PolicyDocument" in properties:
            arguments["PolicyDocument"] = document(properties["PolicyDocument"])
        answer = context.client("ec2").create_vpc_endpoint(
            VpcId=properties["VpcId"],
            ServiceName=properties["ServiceName"],
            TagSpecifications=tag_specification(context, "vpc-endpoint", properties),
            **arguments,
        )
        return str(answer["VpcEndpoint"]["VpcEndpointId"])

    def _describe(self, context: Context, endpoint_id: str) -> list[Json]:
        found: list[Json] = context.client("ec2").describe_vpc_endpoints()["VpcEndpoints"]
        return [one for one in found if one["VpcEndpointId"] == endpoint_id and str(one["State"]).lower() != "deleted"]

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the id, names and interfaces."""
        endpoint = self._describe(context, physical_id)[0]
        entries = [f"{one.get('HostedZoneId', '')}:{one['DnsName']}" for one in endpoint.get("DnsEntries", ())]
        return {
            "Id": physical_id,
            "CreationTimestamp": str(endpoint.get("CreationTimestamp", "")),
            "DnsEntries": entries,
            "NetworkInterfaceIds": endpoint.get("NetworkInterfaceIds", []),
        }

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the policy, tables, subnets, groups and tags."""
        arguments: Json = pick(properties, "PrivateDnsEnabled")
        if changed(properties, before, "PolicyDocument"):
            arguments |= (
                {"PolicyDocument": document(properties["PolicyDocument"])}
                if "PolicyDocument" in properties
                else {"ResetPolicy": True}
            )
        for name in LISTS:
            new, old = properties.get(name) or [], before.get(name) or []
            lists = {
                f"Add{name}": [one for one in new if one not in old],
                f"Remove{name}": [one for one in old if one not in new],
            }
            arguments |= {key: value for key, value in lists.items() if value}
        if arguments:
            context.client("ec2").modify_vpc_endpoint(VpcEndpointId=physical_id, **arguments)
        retag(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the endpoint and wait until it is gone, because its interfaces use subnets and groups."""
        with tolerate("InvalidVpcEndpointId.NotFound"):
            context.client("ec2").delete_vpc_endpoints(VpcEndpointIds=[physical_id])
            context.until(lambda: None if self._describe(context, physical_id) else True)


class FlowLog(Provider):
    """AWS::EC2::FlowLog, to CloudWatch Logs.

    A role that cannot deliver fails the resource here; on AWS it is created and shows "Access error" some minutes later.
    """

    type = "AWS::EC2::FlowLog"
    acts_on = (
        "DeliverLogsPermissionArn",
        "LogDestination",
        "LogDestinationType",
        "LogFormat",
        "LogGroupName",
        "MaxAggregationInterval",
        "ResourceId",
        "ResourceType",
        "Tags",
        "TrafficType",
    )

    def create(self, context: Context, properties: Json) -> str:
        """Create the flow log and return its id."""
        if properties.get("LogDestinationType", "cloud-watch-logs") != "cloud-watch-logs":
            raise ResourceError(
                f"not part of the embedded AWS: AWS::EC2::FlowLog LogDestinationType {properties['LogDestinationType']}"
            )
        self._check_delivery(context, properties)
        names = (
            "DeliverLogsPermissionArn",
            "LogDestination",
            "LogFormat",
            "LogGroupName",
            "MaxAggregationInterval",
            "ResourceType",
            "TrafficType",
        )
        answer = context.client("ec2").create_flow_logs(
            ResourceIds=[properties["ResourceId"]],
            LogDestinationType="cloud-watch-logs",
            TagSpecifications=tag_specification(context, "vpc-flow-log", properties),
            **pick(properties, *names),
        )
        refused = [one["Error"] for one in answer.get("Unsuccessful", ())]
        if refused:
            raise ResourceError(f"{refused[0]['Message']} (Service: Ec2, Error Code: {refused[0]['Code']})")
        return str(answer["FlowLogIds"][0])

    def _check_delivery(self, context: Context, properties: Json) -> None:
        """Fail unless the delivering service can assume the role and the role may write to this log group."""
        role = properties.get("DeliverLogsPermissionArn", "")
        group = self._group_arn(context, properties)
        if not role_trusts(context.account, role, FLOW_LOGS, {"aws:SourceAccount": context.account}):
            raise ResourceError(f"Access error: {FLOW_LOGS} may not assume the flow log's role {role}")
        for action in ("logs:CreateLogStream", "logs:PutLogEvents"):
            if not role_allows(context.account, role, action, f"{group}:log-stream:flow-logs", {}):
                raise ResourceError(f"Access error: the flow log's role {role} may not {action} on {group}")

    def _group_arn(self, context: Context, properties: Json) -> str:
        given = str(properties.get("LogDestination", "")).removesuffix(":*")
        return given or context.arn("logs", f"log-group:{properties.get('LogGroupName', '')}")

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the flow log's id."""
        return {"Id": physical_id}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the tags."""
        retag(context, physical_id, properties, before)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the flow log."""
        with tolerate("InvalidFlowLogId.NotFound"):
            context.client("ec2").delete_flow_logs(FlowLogIds=[physical_id])


PROVIDERS = (VpcEndpoint(), FlowLog())
