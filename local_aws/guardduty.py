"""GuardDuty Runtime Monitoring in its automatic mode, which adds an interface endpoint to VPCs with instances.

The names are those that terraform-provider-aws deletes (issue 46747, pull request 46953). GuardDuty never deletes them:
https://docs.aws.amazon.com/guardduty/latest/ug/runtime-monitoring-agent-resource-clean-up.html
"""

import threading

from local_aws.network_interfaces import Place

TAGS = {"GuardDutyManaged": "true"}
_lock = threading.Lock()


def cover(place: Place) -> None:
    """Create endpoint and security group in the VPC of a place with instances, unless they exist.

    In each zone, the endpoint is in one subnet: that of the instance, or any.
    """
    ec2, subnet, service = place.ec2, place.subnet(), f"com.amazonaws.{place.region}.guardduty-data"
    if subnet is None:
        return
    name, text = f"GuardDutyManagedSecurityGroup-{subnet.vpc_id}", "Associated with VPC endpoints of GuardDuty"
    with _lock:
        endpoints = list(ec2.vpc_end_points.values())
        if any((each.vpc_id, each.service_name, each.state) == (subnet.vpc_id, service, "available") for each in endpoints):
            return
        by_zone = {each.availability_zone: each.id for each in ec2.describe_subnets(filters={"vpc-id": [subnet.vpc_id]})}
        by_zone[subnet.availability_zone] = subnet.id
        group = ec2.get_security_group_from_name(name, subnet.vpc_id)
        group = group or ec2.create_security_group(name, text, vpc_id=subnet.vpc_id, tags=TAGS)
        endpoint = ec2.create_vpc_endpoint(
            subnet.vpc_id, service, "Interface", None, [], sorted(by_zone.values()), security_group_ids=[group.id], tags=TAGS
        )
        endpoint.state = "available"
    for interface in (ec2.enis[each] for each in endpoint.network_interface_ids):
        interface._group_set = [group]
        interface.description, interface.interface_type = f"VPC Endpoint Interface {endpoint.id}", "vpc_endpoint"
        interface.status, interface.requester_managed = "in-use", True
