"""A cluster in the customer's VPC: the cluster security group, and the control plane's network interfaces."""

from local_aws import callers, network_interfaces
from local_aws.eks.errors import invalid
from local_aws.eks.model import Cluster
from local_aws.json_service import Call, Json
from local_aws.network_interfaces import Interface, OutOfAddressesError, Place, find_subnet

ANYWHERE = "0.0.0.0/0"
HTTPS = 443


def attach(call: Call, vpc: Json, group_id: str) -> list[Interface]:
    """Create the control plane's interfaces in subnets of two zones."""
    groups = (group_id, *(vpc.get("securityGroupIds") or ()))
    description = f"Amazon EKS {call.request['name']}"
    made: list[Interface] = []
    try:
        for subnet_id in _of_two_zones(call, vpc["subnetIds"]):
            made += network_interfaces.create(Place(call.account, call.region, subnet_id, groups), 1, description=description)
    except OutOfAddressesError as error:
        network_interfaces.delete(call.account, call.region, made)
        raise invalid(str(error)) from error
    return made


def admits(cluster: Cluster, address: str) -> bool:
    """Return whether the endpoint accepts connections from ``address``.

    In the cluster's VPC, its name leads to the control plane's interfaces if private access is enabled. People are assumed to
    call from allowed ranges of the internet, and other functions from addresses that are in no range but all.
    """
    vpc, network = cluster.settings["resourcesVpcConfig"], callers.network_of(address)
    inside = [place for place in network or () if _vpc_id(place) == vpc["vpcId"]]
    if inside and vpc["endpointPrivateAccess"]:
        return any(_reaches(place, cluster) for place in inside)
    return bool(vpc["endpointPublicAccess"]) and (network is None or ANYWHERE in vpc["publicAccessCidrs"])


def _vpc_id(place: Place) -> str:
    subnet = place.subnet()
    return str(subnet.vpc_id) if subnet else ""


def _reaches(place: Place, cluster: Cluster) -> bool:
    """Return whether security groups allow HTTPS from ``place`` to one of the control plane's interfaces."""
    vpc = cluster.settings["resourcesVpcConfig"]
    groups = (vpc["clusterSecurityGroupId"], *(vpc["securityGroupIds"] or ()))
    targets = (Place(cluster.account, cluster.region, each.subnet_id, groups) for each in cluster.interfaces)
    return any(place.groups().reach(target.groups(), HTTPS) for target in targets if target.subnet())


def _of_two_zones(call: Call, subnet_ids: list[str]) -> list[str]:
    by_zone: dict[str, str] = {}
    for subnet_id in subnet_ids:
        subnet = find_subnet(call.account, call.region, subnet_id)
        if subnet is not None:
            by_zone.setdefault(str(subnet.availability_zone), subnet_id)
    return list(by_zone.values())[:2]


def create_security_group(call: Call, vpc_id: str) -> str:
    """Create the cluster security group, whose members reach each other, and return its id."""
    name = call.request["name"]
    ec2 = network_interfaces.ec2_of(call.account, call.region)
    group = ec2.create_security_group(
        f"eks-cluster-sg-{name}-{len(ec2.groups[vpc_id])}",
        "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, "
        "as well as any managed workloads.",
        vpc_id=vpc_id,
        tags={f"kubernetes.io/cluster/{name}": "owned", "aws:eks:cluster-name": name},
        force=True,
    )
    ec2.authorize_security_group_ingress(group.id, "-1", None, None, [], source_groups=[{"GroupId": group.id}])
    return str(group.id)


def delete_security_group(account: str, region: str, group_id: str) -> None:
    """Delete a cluster security group; as on AWS, it stays while other groups or interfaces use it."""
    from moto.ec2.exceptions import EC2ClientError  # noqa: PLC0415  moto is loaded once the environment is set

    ec2 = network_interfaces.ec2_of(account, region)
    group = ec2.get_security_group_from_id(group_id)
    if group is None:
        return
    group.ingress_rules.clear()
    try:
        ec2.delete_security_group(group_id=group_id)
    except EC2ClientError as error:
        if error.error_type != "DependencyViolation":
            raise


def detach(cluster: Cluster) -> None:
    """Delete the interfaces and the cluster security group."""
    network_interfaces.delete(cluster.account, cluster.region, cluster.interfaces)
    cluster.interfaces = []
    delete_security_group(cluster.account, cluster.region, cluster.security_group)
