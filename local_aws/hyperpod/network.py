"""Nodes in the customer's VPC: checks, and network interfaces that are created and deleted with the execution role."""

from collections.abc import Iterable
from functools import cache

from local_aws import guardduty
from local_aws.errors import AwsError
from local_aws.hyperpod.model import Cluster, Node
from local_aws.hyperpod.roles import ExecutionRole
from local_aws.hyperpod.service_behaviour import has_guardduty
from local_aws.json_service import Call, Context, Json
from local_aws.network_interfaces import Interface, Place, create, delete, find_group, find_subnet

_LOOKS = (
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeVpcs",
    "ec2:DescribeDhcpOptions",
    "ec2:DescribeSubnets",
    "ec2:DescribeSecurityGroups",
)
_HYPERPODS_ACCOUNT = "000000000000"  # the account of the instances; its real id is not public
_DETACHMENT = "ec2:DetachNetworkInterface"
_REMOVALS = (_DETACHMENT, "ec2:DeleteNetworkInterfacePermission", "ec2:DeleteNetworkInterface")


class NetworkError(Exception):
    """The nodes cannot run in this network."""


def check_vpc(call: Call, vpc: Json) -> None:
    """Refuse subnets and security groups that do not exist or are not in the same VPC."""
    vpcs = set()
    for subnet_id in vpc["Subnets"]:
        subnet = find_subnet(call.account, call.region, subnet_id)
        if subnet is None:
            raise AwsError("ValidationException", f"The subnet ID '{subnet_id}' does not exist")
        vpcs.add(subnet.vpc_id)
    for group_id in vpc["SecurityGroupIds"]:
        group = find_group(call.account, call.region, group_id)
        if group is None:
            raise AwsError("ValidationException", f"The security group '{group_id}' does not exist")
        vpcs.add(group.vpc_id)
    if len(vpcs) > 1:
        raise AwsError("ValidationException", f"subnets and security groups must be of one VPC, got those of {sorted(vpcs)}")


def attach(cluster: Cluster, node: Node) -> None:
    """Create the node's network interfaces with its group's execution role."""
    place = _place(cluster, node.spec)
    if place is None:
        return
    _may_create(cluster, node.spec, place)
    if _efa_interfaces(node.type):
        _check_efa(place, node.type)
    description = f"Interface of SageMaker HyperPod for {cluster.arn}, {node.id}"
    node.interfaces = create(place, interfaces_of(node.type), description=description)
    if has_guardduty():
        guardduty.cover(place)


def release(cluster: Cluster, node: Node) -> None:
    """Delete the node's network interfaces with its group's execution role; without permission, they stay."""
    if not node.interfaces:
        return
    role = ExecutionRole.of(cluster, node.spec)
    place = _place(cluster, node.spec)
    context = _keys(cluster, place) if place else {}
    # Detaching requires both: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
    role.must(_DETACHMENT, _instance_arn(cluster, node), context)
    for interface in node.interfaces:
        for action in _REMOVALS:
            role.must(action, _interface_arn(cluster, interface), context)
    delete(cluster.account, cluster.region, node.interfaces)
    node.interfaces = []


def drop(cluster: Cluster, nodes: Iterable[Node]) -> None:
    """Delete the interfaces of nodes that fail to start."""
    for node in nodes:
        delete(cluster.account, cluster.region, node.interfaces)
        node.interfaces = []


def _place(cluster: Cluster, spec: Json) -> Place | None:
    vpc = spec.get("OverrideVpcConfig") or cluster.settings.get("VpcConfig")
    if not vpc:
        return None
    return Place(cluster.account, cluster.region, vpc["Subnets"][0], tuple(vpc["SecurityGroupIds"]))


def _may_create(cluster: Cluster, spec: Json, place: Place) -> None:
    role, keys = ExecutionRole.of(cluster, spec), _keys(cluster, place)
    for action in _LOOKS:
        role.must(action, "*")
    new = _ec2_arn(cluster, "network-interface/*")
    used = [f"subnet/{place.subnet_id}", *(f"security-group/{group}" for group in place.group_ids)]
    for resource in [new, *(_ec2_arn(cluster, name) for name in used)]:
        role.must("ec2:CreateNetworkInterface", resource, keys)
    role.must("ec2:CreateTags", new, {"ec2:CreateAction": "CreateNetworkInterface"})
    role.must("ec2:CreateTags", new, keys)  # AWS's policies need no ec2:CreateAction: HyperPod may also tag in a separate call
    role.must("ec2:CreateNetworkInterfacePermission", new, keys)


def _check_efa(place: Place, type_name: str) -> None:
    groups = place.groups()
    if not (groups.allow_all_of_themselves("ingress") and groups.allow_all_of_themselves("egress")):
        raise NetworkError(
            f"EFA health checks did not run successfully for {type_name}. Ensure that your VPC and security groups are "
            f"properly configured: all traffic between members of {', '.join(sorted(groups.ids))} must be allowed, in and out"
        )


def _keys(cluster: Cluster, place: Place) -> Context:
    subnet = place.subnet()
    if subnet is None:
        raise NetworkError(f"The subnet ID '{place.subnet_id}' does not exist")
    return {
        "ec2:Subnet": _ec2_arn(cluster, f"subnet/{place.subnet_id}"),
        "ec2:Vpc": _ec2_arn(cluster, f"vpc/{subnet.vpc_id}"),
        "ec2:AvailabilityZone": str(subnet.availability_zone),
        "ec2:Region": cluster.region,
    }


def _interface_arn(cluster: Cluster, interface: Interface) -> str:
    return _ec2_arn(cluster, f"network-interface/{interface.id}")


def _instance_arn(cluster: Cluster, node: Node) -> str:
    return f"arn:{cluster.partition}:ec2:{cluster.region}:{_HYPERPODS_ACCOUNT}:instance/{node.id}"


def _ec2_arn(cluster: Cluster, rest: str) -> str:
    return f"arn:{cluster.partition}:ec2:{cluster.region}:{cluster.account}:{rest}"


def interfaces_of(type_name: str) -> int:
    """Return the number of interfaces of a node in its subnet, each with an address: one per network card.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
    """
    return int(_network(type_name).get("MaximumNetworkCards", 1))


def _efa_interfaces(type_name: str) -> int:
    return int((_network(type_name).get("EfaInfo") or {}).get("MaximumEfaInterfaces", 0))


@cache
def _network(type_name: str) -> Json:
    """Return the instance type's network from moto's copy of EC2's DescribeInstanceTypes."""
    from moto.ec2.models.instance_types import INSTANCE_TYPES  # noqa: PLC0415  moto is loaded once the environment is set

    described: Json = INSTANCE_TYPES.get(type_name.removeprefix("ml."), {}).get("NetworkInfo", {})
    return described
