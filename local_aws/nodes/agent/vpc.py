"""A cluster's VPC for its hub: from the embedded EC2's state, with the embedded FSx's file systems."""

import ipaddress
from pathlib import Path
from typing import Any

from local_aws.builds.errors import HostError
from local_aws.fsx import model as fsx
from local_aws.hyperpod.model import Cluster, Node
from local_aws.kubernetes.commands import API_SERVICE
from local_aws.network_interfaces import find_subnet
from local_aws.nodes.agent import kubelet
from local_aws.nodes.specs import FileSystem, Vpc


def vpc_of(cluster: Cluster, node: Node, file_systems: Path) -> Vpc:
    """Return the VPC of a cluster's node; file systems have their contents below the folder ``file_systems``."""
    subnet = find_subnet(cluster.account, cluster.region, node.interfaces[0].subnet_id)
    if subnet is None:
        raise HostError(f"subnet {node.interfaces[0].subnet_id} no longer exists")
    vpc_id = str(subnet.vpc_id)
    cidrs = _cidrs(cluster, vpc_id)
    resolver = ipaddress.ip_network(cidrs[0]).network_address + 2
    mine = [one for one in fsx.everything() if (one.account, one.region, one.vpc_id) == (cluster.account, cluster.region, vpc_id)]
    systems = {one.dns_name: _file_system(one, file_systems) for one in mine if one.interfaces}
    plane = kubelet.plane_of(cluster)
    return Vpc(
        cluster.region,
        cidrs,
        str(resolver),
        systems,
        API_SERVICE if plane else "",
        kubelet.endpoint_for_nodes(plane) if plane else "",
    )


def reaches_aws(cluster: Cluster, node: Node) -> bool:
    """Return whether a node reaches AWS: by a default route that needs no public address, or by SSM's interface endpoint."""
    from moto.ec2.models import ec2_backends  # noqa: PLC0415  moto is loaded once the environment is set

    ec2: Any = ec2_backends[cluster.account][cluster.region]
    subnet = find_subnet(cluster.account, cluster.region, node.interfaces[0].subnet_id)
    if subnet is None:
        return False
    tables = ec2.describe_route_tables(filters={"association.subnet-id": [subnet.id]}) or ec2.describe_route_tables(
        filters={"vpc-id": [subnet.vpc_id], "association.main": ["true"]}
    )
    defaults = [route for table in tables for route in table.routes if route.destination_cidr_block == "0.0.0.0/0"]
    endpoints = [each for each in ec2.vpc_end_points.values() if each.vpc_id == subnet.vpc_id]
    has_endpoint = any(each.vpc_endpoint_type == "Interface" and each.service_name.endswith(".ssm") for each in endpoints)
    return has_endpoint or any(route.gateway is None for route in defaults)


def _cidrs(cluster: Cluster, vpc_id: str) -> tuple[str, ...]:
    from moto.ec2.models import ec2_backends  # noqa: PLC0415  moto is loaded once the environment is set

    vpc: Any = ec2_backends[cluster.account][cluster.region].get_vpc(vpc_id)
    if vpc is None:
        raise HostError(f"VPC {vpc_id} no longer exists")
    others = [one["cidr_block"] for one in vpc.get_cidr_block_association_set()]
    return tuple(dict.fromkeys([vpc.cidr_block, *others]))


def _file_system(system: fsx.FileSystem, folder: Path) -> FileSystem:
    system.folder = folder / system.id
    return FileSystem(system.interfaces[0].address, str(system.lustre["MountName"]), system.folder)
