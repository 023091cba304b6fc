"""The availability zone of a verification."""

from typing import Any

from tests.verify_aws.plan import CONTROLLER_TYPE, WORKER_TYPE


def choose_zone(ec2: Any) -> str:
    """Return the id of the first zone that offers the instance types, or of the first zone if EC2 lists none."""
    zones = [each["ZoneId"] for each in ec2.describe_availability_zones()["AvailabilityZones"] if each["State"] == "available"]
    names = [name.removeprefix("ml.") for name in (CONTROLLER_TYPE, WORKER_TYPE)]
    filters = [{"Name": "instance-type", "Values": names}]
    offered = ec2.describe_instance_type_offerings(LocationType="availability-zone-id", Filters=filters)["InstanceTypeOfferings"]
    places = {(each["Location"], each["InstanceType"]) for each in offered}
    return str(next((zone for zone in sorted(zones) if all((zone, name) in places for name in names)), sorted(zones)[0]))
