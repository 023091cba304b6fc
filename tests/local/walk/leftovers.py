"""What is left in the embedded account beside its default VPC and what `cdk bootstrap` made."""

from collections.abc import Callable, Iterable
from typing import Any


def leftovers(client: Callable[[str], Any]) -> dict[str, list[str]]:
    """Ids of all that is left, by kind; kinds of which nothing is left are absent."""
    found = {**_network(client("ec2")), **_storage(client), **_compute(client)}
    return {kind: sorted(ids) for kind, ids in found.items() if ids}


def _network(ec2: Any) -> dict[str, list[str]]:
    default = [vpc["VpcId"] for vpc in ec2.describe_vpcs()["Vpcs"] if vpc["IsDefault"]]

    def ours(things: Iterable[dict[str, Any]], key: str) -> list[str]:
        return [thing[key] for thing in things if thing.get("VpcId") not in default]

    gateways = ec2.describe_internet_gateways()["InternetGateways"]
    return {
        "vpc": ours(ec2.describe_vpcs()["Vpcs"], "VpcId"),
        "subnet": ours(ec2.describe_subnets()["Subnets"], "SubnetId"),
        "security group": [
            group["GroupId"]
            for group in ec2.describe_security_groups()["SecurityGroups"]
            if group["VpcId"] not in default and group["GroupName"] != "default"
        ],
        "route table": [
            table["RouteTableId"]
            for table in ec2.describe_route_tables()["RouteTables"]
            if table["VpcId"] not in default and not any(link.get("Main") for link in table["Associations"])
        ],
        "internet gateway": [
            gateway["InternetGatewayId"]
            for gateway in gateways
            if not any(attachment["VpcId"] in default for attachment in gateway["Attachments"])
        ],
        "nat gateway": [
            gateway["NatGatewayId"] for gateway in ec2.describe_nat_gateways()["NatGateways"] if gateway["State"] != "deleted"
        ],
        "endpoint": [
            endpoint["VpcEndpointId"]
            for endpoint in ec2.describe_vpc_endpoints()["VpcEndpoints"]
            if endpoint["State"] != "deleted"
        ],
        "address": [address["AllocationId"] for address in ec2.describe_addresses()["Addresses"]],
        "network interface": [
            interface["NetworkInterfaceId"] for interface in ec2.describe_network_interfaces()["NetworkInterfaces"]
        ],
        "flow log": [log["FlowLogId"] for log in ec2.describe_flow_logs()["FlowLogs"]],
    }


def _storage(client: Callable[[str], Any]) -> dict[str, list[str]]:
    fsx = client("fsx")
    return {
        "file system": [system["FileSystemId"] for system in fsx.describe_file_systems()["FileSystems"]],
        "association": [link["AssociationId"] for link in fsx.describe_data_repository_associations()["Associations"]],
        "bucket": [bucket["Name"] for bucket in client("s3").list_buckets()["Buckets"] if not bucket["Name"].startswith("cdk-")],
    }


def _compute(client: Callable[[str], Any]) -> dict[str, list[str]]:
    machines = client("stepfunctions").list_state_machines()["stateMachines"]
    groups = client("logs").describe_log_groups()["logGroups"]
    return {
        "cluster": [cluster["ClusterName"] for cluster in client("sagemaker").list_clusters()["ClusterSummaries"]],
        "function": [function["FunctionName"] for function in client("lambda").list_functions()["Functions"]],
        "state machine": [machine["name"] for machine in machines],
        "rule": [rule["Name"] for rule in client("events").list_rules()["Rules"]],
        "role": [role["RoleName"] for role in client("iam").list_roles()["Roles"] if not role["RoleName"].startswith("cdk-")],
        "log group": [group["logGroupName"] for group in groups],
        "stack": [
            stack["StackName"]
            for stack in client("cloudformation").describe_stacks()["Stacks"]
            if stack["StackName"] != "CDKToolkit"
        ],
    }
