"""A file system in the customer's VPC: its network interfaces, and whether its security groups allow Lustre traffic."""

from local_aws.errors import AwsError
from local_aws.json_service import Call, Json
from local_aws.network_interfaces import Interface, OutOfAddressesError, Place, create, find_group, find_subnet

LUSTRE_PORTS = (988, *range(1018, 1024))
FILE_SYSTEM_TAG = "AmazonFSx.FileSystemId"
_GIB_PER_SERVER = 2400


def _invalid(message: str) -> AwsError:
    return AwsError("InvalidNetworkSettings", message)


def place_of(call: Call) -> tuple[Place, str]:
    """Return the file system's place and its VPC, after FSx's checks."""
    request = call.request
    if len(request["SubnetIds"]) != 1:
        raise AwsError("BadRequest", f"a Lustre file system takes exactly one subnet, got {request['SubnetIds']}")
    subnet_id = request["SubnetIds"][0]
    subnet = find_subnet(call.account, call.region, subnet_id)
    if subnet is None:
        raise _invalid(f"The subnet ID '{subnet_id}' does not exist")
    group_ids = tuple(request.get("SecurityGroupIds") or ())
    for group_id in group_ids:
        group = find_group(call.account, call.region, group_id)
        if group is None or group.vpc_id != subnet.vpc_id:
            raise _invalid(f"The security group '{group_id}' does not exist in VPC {subnet.vpc_id} of subnet {subnet_id}")
    place = Place(call.account, call.region, subnet_id, group_ids)
    _check_ports(place)
    return place, str(subnet.vpc_id)


def _check_ports(place: Place) -> None:
    groups = place.groups()
    for port in LUSTRE_PORTS:
        if not (groups.allow_port("ingress", port) and groups.allow_port("egress", port)):
            raise _invalid(
                f"The file system cannot be created because the security groups {sorted(groups.ids)} do not permit Lustre LNET "
                f"network traffic on port {port}"
            )


def attach(place: Place, file_system_id: str, request: Json) -> list[Interface]:
    """Create the file system's interfaces: one for its metadata server and one per file server.

    They have the tag with which AmazonFSxServiceRolePolicy finds them. The number of servers of a file system is not published;
    one per 2,400 GiB is assumed.
    """
    servers = -(-int(request.get("StorageCapacity") or _GIB_PER_SERVER) // _GIB_PER_SERVER)
    try:
        found = create(place, 1 + servers, description=f"Created By Amazon FSx for {file_system_id}")
    except OutOfAddressesError as error:
        raise _invalid(str(error)) from error
    place.ec2.create_tags([each.id for each in found], {FILE_SYSTEM_TAG: file_system_id})
    return found
