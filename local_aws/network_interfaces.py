"""Network interfaces of services in subnets, and the refusals that moto's EC2 lacks.

Corrected in moto: a subnet or a security group in use can be deleted, a NAT gateway leaves its interface behind, interface
endpoints are gone at once, and a VPC can be deleted although groups, endpoints, peerings or an internet gateway are left in it.
"""

import ipaddress
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from local_aws.durations import duration
from local_aws.schedule import schedule
from local_aws.security_group_rules import Groups, references

_lock = threading.RLock()
_originals: dict[str, Callable[..., Any]] = {}


class OutOfAddressesError(Exception):
    """The subnet does not have enough free addresses."""


@dataclass(frozen=True)
class Interface:
    """A network interface of a service in a customer's subnet."""

    id: str
    address: str
    subnet_id: str


@dataclass(frozen=True)
class Place:
    """The place of interfaces: a subnet of an account's region, and their security groups."""

    account: str
    region: str
    subnet_id: str
    group_ids: tuple[str, ...]

    @property
    def ec2(self) -> Any:
        """Moto's EC2."""
        return ec2_of(self.account, self.region)

    def subnet(self) -> Any | None:
        """Return moto's subnet, or None."""
        return find_subnet(self.account, self.region, self.subnet_id)

    def groups(self) -> Groups:
        """Return the security groups, or the VPC's default one if none is given."""
        ec2, subnet = ec2_of(self.account, self.region), self.subnet()
        if subnet is None:
            raise LookupError(f"subnet {self.subnet_id} does not exist")
        ids = self.group_ids or (ec2.get_default_security_group(subnet.vpc_id).id,)
        found = (ec2.get_security_group_from_id(group_id) for group_id in ids)
        return Groups(tuple(group for group in found if group), subnet.cidr_block)


def find_subnet(account: str, region: str, subnet_id: str) -> Any | None:
    """Return moto's subnet with this id, or None."""
    return next((zone[subnet_id] for zone in ec2_of(account, region).subnets.values() if subnet_id in zone), None)


def find_group(account: str, region: str, group_id: str) -> Any | None:
    """Return moto's security group with this id, or None."""
    return ec2_of(account, region).get_security_group_from_id(group_id)


def create(place: Place, count: int, *, description: str, tags: dict[str, str] | None = None) -> list[Interface]:
    """Create ``count`` interfaces, all or none; only ``delete`` here can delete them."""
    ec2, subnet = ec2_of(place.account, place.region), place.subnet()
    if subnet is None:
        raise LookupError(f"subnet {place.subnet_id} does not exist")
    with _lock:
        addresses = list(itertools.islice(_free_addresses(ec2, subnet), count))
        if len(addresses) < count:
            raise OutOfAddressesError(
                f"subnet {place.subnet_id} ({subnet.cidr_block}) has {len(addresses)} free addresses, {count} are needed"
            )
        made = [
            ec2.create_network_interface(
                subnet, address, group_ids=list(place.group_ids), description=description, tags=dict(tags or {})
            )
            for address in addresses
        ]
    for eni in made:
        eni.status, eni.requester_managed = "in-use", True
    return [Interface(eni.id, eni.private_ip_address, place.subnet_id) for eni in made]


def delete(account: str, region: str, interfaces: Iterable[Interface]) -> None:
    """Delete the interfaces; ignore those already gone."""
    with _lock:
        for interface in interfaces:
            ec2_of(account, region).enis.pop(interface.id, None)


def install() -> None:
    """Patch moto's EC2; safe to repeat."""
    from moto.ec2.models import EC2Backend  # noqa: PLC0415  moto is loaded once the environment is set

    for name, corrected in _CORRECTIONS.items():
        if name not in _originals:
            _originals[name] = getattr(EC2Backend, name)
            setattr(EC2Backend, name, corrected)


def ec2_of(account: str, region: str) -> Any:
    """Return moto's backend of EC2."""
    from moto.ec2.models import ec2_backends  # noqa: PLC0415

    return ec2_backends[account][region]


def _free_addresses(ec2: Any, subnet: Any) -> Iterator[str]:
    taken = {item["PrivateIpAddress"] for eni in list(ec2.enis.values()) for item in eni.private_ip_addresses}
    hosts = ipaddress.IPv4Network(subnet.cidr_block).hosts()
    for host in itertools.islice(hosts, 3, None):  # AWS reserves the network's own address and the next three
        if str(host) not in taken:
            yield str(host)


def _refuse(code: str, message: str) -> None:
    from moto.ec2.exceptions import EC2ClientError  # noqa: PLC0415

    raise EC2ClientError(code, message)


def _delete_subnet(ec2: Any, subnet_id: str) -> Any:
    if any(eni.subnet.id == subnet_id for eni in list(ec2.enis.values())):
        _refuse("DependencyViolation", f"The subnet '{subnet_id}' has dependencies and cannot be deleted.")
    return _originals["delete_subnet"](ec2, subnet_id)


def _delete_security_group(ec2: Any, name: str | None = None, group_id: str | None = None) -> Any:
    used = any(group.id == group_id for eni in list(ec2.enis.values()) for group in eni.group_set)
    everyone = [group for groups in list(ec2.groups.values()) for group in list(groups.values())]
    if group_id and (used or references(everyone, group_id)):
        _refuse("DependencyViolation", f"resource {group_id} has a dependent object")
    return _originals["delete_security_group"](ec2, name, group_id)


def _delete_nat_gateway(ec2: Any, nat_gateway_id: str) -> Any:
    """Delete the gateway; it keeps its interface and address for some time."""
    gateway = _originals["delete_nat_gateway"](ec2, nat_gateway_id)
    gateway.state = "deleting"

    def free() -> None:
        for address in list(ec2.addresses):
            if address.eni is gateway._eni and address.association_id:
                ec2.disassociate_address(association_id=address.association_id)
        ec2.enis.pop(gateway._eni.id, None)
        gateway.state = "deleted"

    schedule.after(duration("ec2.nat.delete"), free)
    return gateway


def _delete_network_interface(ec2: Any, eni_id: str) -> Any:
    eni = ec2.enis.get(eni_id)
    if eni and eni.requester_managed:
        _refuse("InvalidParameterValue", f"Network interface '{eni_id}' is currently in use.")
    return _originals["delete_network_interface"](ec2, eni_id)


def _detach_internet_gateway(ec2: Any, internet_gateway_id: str, vpc_id: str) -> Any:
    if any(eni.public_ip and eni.vpc_id == vpc_id for eni in list(ec2.enis.values())):
        text = f"Network {vpc_id} has some mapped public address(es). Please unmap those before detaching the gateway."
        _refuse("DependencyViolation", text)
    return _originals["detach_internet_gateway"](ec2, internet_gateway_id, vpc_id)


def _delete_vpc_endpoints(ec2: Any, vpce_ids: list[str]) -> None:
    """Delete the endpoints; interfaces stay for some time, and with them the subnets."""
    for each in (ec2.vpc_end_points[key] for key in vpce_ids if key in ec2.vpc_end_points):
        if str(each.vpc_endpoint_type).lower() != "interface":
            _originals["delete_vpc_endpoints"](ec2, [each.id])
        elif each.state == "available":
            each.state = "deleting"
            schedule.after(duration("ec2.endpoint.delete"), partial(_originals["delete_vpc_endpoints"], ec2, [each.id]))


def _delete_vpc(ec2: Any, vpc_id: str) -> Any:
    peered = [each for each in ec2.vpc_pcxs.values() if each._status.code in ("active", "pending-acceptance")]
    left = [
        *(each.id for each in peered if vpc_id in (each.vpc.id, each.peer_vpc.id)),
        *(group.id for group in ec2.groups.get(vpc_id, {}).values() if group.name != "default"),
        *(gateway.id for gateway in ec2.internet_gateways.values() if gateway.vpc and gateway.vpc.id == vpc_id),
        *(point.id for point in ec2.vpc_end_points.values() if point.vpc_id == vpc_id and point.state != "deleted"),
    ]
    if left:
        _refuse("DependencyViolation", f"The vpc '{vpc_id}' has dependencies and cannot be deleted.")
    return _originals["delete_vpc"](ec2, vpc_id)


_CORRECTIONS: dict[str, Callable[..., Any]] = {
    "delete_subnet": _delete_subnet,
    "delete_security_group": _delete_security_group,
    "delete_nat_gateway": _delete_nat_gateway,
    "delete_network_interface": _delete_network_interface,
    "detach_internet_gateway": _detach_internet_gateway,
    "delete_vpc": _delete_vpc,
    "delete_vpc_endpoints": _delete_vpc_endpoints,
}
