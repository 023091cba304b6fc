"""A network and a file system that another team made, for clusters that are to live with what is there already."""

from dataclasses import dataclass

from local_aws.testing import Client
from tests.simulator.fsx.world import until


@dataclass(frozen=True)
class OtherNetwork:
    """A VPC with a subnet for nodes and a security group whose members reach each other."""

    zone_id: str
    vpc: str
    subnet: str
    group: str

    @property
    def section(self) -> dict[str, object]:
        """The network of a cluster file that uses it."""
        existing = {"vpc_id": self.vpc, "node_subnet_ids": [self.subnet], "security_group_id": self.group}
        return {"availability_zone_id": self.zone_id, "existing": existing}


def make_other_network(client: Client, zone_id: str = "usw2-az4") -> OtherNetwork:
    """Make one in the account."""
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/17", AvailabilityZoneId=zone_id)["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
    everything = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=everything)
    ec2.authorize_security_group_egress(GroupId=group, IpPermissions=everything)
    return OtherNetwork(zone_id, vpc, subnet, group)


def make_other_file_system(client: Client, network: OtherNetwork) -> dict[str, str]:
    """Make a Lustre file system there and wait until it is up; gives `storage.existing` of a cluster file that uses it."""
    fsx = client("fsx")
    made = fsx.create_file_system(
        FileSystemType="LUSTRE",
        FileSystemTypeVersion="2.15",
        StorageCapacity=1200,
        SubnetIds=[network.subnet],
        SecurityGroupIds=[network.group],
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
    )["FileSystem"]
    ids = [made["FileSystemId"]]
    until(lambda: fsx.describe_file_systems(FileSystemIds=ids)["FileSystems"], lambda seen: seen[0]["Lifecycle"] == "AVAILABLE")
    return {"file_system_id": made["FileSystemId"], "mount_name": made["LustreConfiguration"]["MountName"]}
