"""The request of a file with `slurm.setup: api` is that of AWS's public sample; every difference has its name here.

The sample is physai/infra of https://github.com/aws-samples/sample-physical-ai-scaffolding-kit, with the groups of its cdk.json.
"""

from typing import Any

import pytest

from cluster_request.request import RequestValues, cluster_request
from config.model import ClusterConfig
from tests.contract.test_reference_requests import ROLE, SCRIPTS, SECURITY_GROUP, SUBNET, VPC, flat
from validation.load import parse_cluster

DNS_NAME, MOUNT_NAME = "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com", "abcdefgh"
VALUES = RequestValues(
    execution_role_arn=ROLE,
    source_s3_uri=SCRIPTS,
    subnet_ids=[SUBNET],
    security_group_ids=[SECURITY_GROUP],
    file_system_dns_name=DNS_NAME,
    file_system_mount_name=MOUNT_NAME,
)
FILE = """
region: us-east-1
network:
  availability_zone_id: use1-az4
storage:
  lustre:
    storage_capacity_gib: 1200
instance_groups:
  - {name: controller-machine, role: controller, instance_type: ml.c5.large, instance_count: 1}
  - {name: login-group, role: login, instance_type: ml.c5.large, instance_count: 1}
  - {name: gpu-workers, role: compute, partition: gpu, instance_type: ml.g6e.2xlarge, instance_count: 1}
  - {name: cpu-workers, role: compute, partition: cpu, instance_type: ml.m5.2xlarge, instance_count: 1}
slurm:
  setup: api
node_recovery: Automatic
"""


def group(name: str, instance_type: str, node_type: str, *partitions: str) -> dict[str, Any]:
    """Return an instance group of the sample, which mounts its file system on all nodes."""
    slurm = {"NodeType": node_type, **({"PartitionNames": [*partitions]} if partitions else {})}
    return {
        "InstanceGroupName": name,
        "InstanceType": instance_type,
        "InstanceCount": 1,
        "LifeCycleConfig": {"SourceS3Uri": SCRIPTS, "OnCreate": "on_create.sh"},
        "ExecutionRole": ROLE,
        "ThreadsPerCore": 1,
        "SlurmConfig": slurm,
        "InstanceStorageConfigs": [{"FsxLustreConfig": {"DnsName": DNS_NAME, "MountName": MOUNT_NAME, "MountPath": "/fsx"}}],
    }


SAMPLE = {
    "InstanceGroups": [
        group("controller-machine", "ml.c5.large", "Controller"),
        group("login-group", "ml.c5.large", "Login"),
        group("gpu-workers", "ml.g6e.2xlarge", "Compute", "gpu"),
        group("cpu-workers", "ml.m5.2xlarge", "Compute", "cpu"),
    ],
    "VpcConfig": VPC,
    "Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Merge"}},
    "NodeRecovery": "Automatic",
}

# The member of the sample, our member, and the reason. ClusterName is not in the request: the custom resource sends it.
DIFFERENCES = {
    (
        "OnCreate",
        "OnInitComplete",
    ): "its scripts install containers and start Slurm, which ours leave to HyperPod's image",
}


@pytest.fixture
def config() -> ClusterConfig:
    parsed = parse_cluster(FILE.encode(), "physai")
    assert isinstance(parsed, ClusterConfig), parsed
    return parsed


def with_differences(request: dict[str, object]) -> dict[str, object]:
    """Return the leaves of the sample's request with our members instead."""
    made = request
    for theirs, ours in DIFFERENCES:
        assert any(path.endswith(f".{theirs}") for path in made), f"{theirs} is no difference"
        made = {f"{path.removesuffix(theirs)}{ours}" if path.endswith(f".{theirs}") else path: made[path] for path in made}
    return made


def test_the_request_is_the_samples_request_field_by_field(config: ClusterConfig) -> None:
    assert flat(cluster_request(config, values=VALUES)) == with_differences(flat(SAMPLE))


def test_continuous_provisioning_replaces_the_strategy(config: ClusterConfig) -> None:
    """HyperPod refuses both; the sample is older than continuous provisioning with Slurm."""
    parsed = parse_cluster(f"{FILE}provisioning: continuous\n".encode(), "physai")
    assert isinstance(parsed, ClusterConfig)
    before, after = flat(cluster_request(config, values=VALUES)), flat(cluster_request(parsed, values=VALUES))
    assert before.items() - after.items() == {(".Orchestrator.Slurm.SlurmConfigStrategy", "Merge")}
    assert after.items() - before.items() == {(".NodeProvisioningMode", "Continuous")}
