"""The files of the field's reference clusters, and requests to change."""

import copy
from pathlib import Path
from typing import Any

from cli.import_cluster import Choices, Imported, Original, imported, read_original
from config.model import ClusterConfig

DATA = Path(__file__).parents[3] / "data" / "imports"
ROLE = "arn:aws:iam::111122223333:role/AmazonSagemakerExecutionRole"
SOURCE = "s3://sagemaker-lifecycle-a1b2c3d4/src"

# The pairs that agree with themselves, each with a zone of its region.
ZONES = {"distributed-training": "use1-az4", "login-node": "usw2-az4"}
# Requests with a SlurmConfig in each group: in the form of AWS's sample-physical-ai-scaffolding-kit, with scripts instead of
# HyperPod's set-up (option C of AWS's documentation), and with continuous provisioning.
API_ZONES = {"physical-ai": "use1-az4", "custom-scripts": "usw2-az4", "continuous": "usw2-az4"}

Json = dict[str, Any]


def group(name: str, instance_type: str, count: int, **more: Any) -> Json:
    """An instance group as the field writes it."""
    return {
        "InstanceGroupName": name,
        "InstanceType": instance_type,
        "InstanceCount": count,
        "LifeCycleConfig": {"SourceS3Uri": SOURCE, "OnCreate": "on_create.sh"},
        "ExecutionRole": ROLE,
        "ThreadsPerCore": 1,
        **more,
    }


REQUEST: Json = {
    "ClusterName": "theirs",
    "InstanceGroups": [group("head", "ml.c5.xlarge", 1), group("door", "ml.m5.xlarge", 1), group("work", "ml.p5.48xlarge", 4)],
    "VpcConfig": {"SecurityGroupIds": ["sg-0a1b2c3d4e5f67890"], "Subnets": ["subnet-01a2bc3456d78ef90"]},
}
PARAMETERS: Json = {
    "version": "1.0.0",
    "workload_manager": "slurm",
    "controller_group": "head",
    "login_group": "door",
    "worker_groups": [{"instance_group_name": "work", "partition_name": "dev"}],
    "fsx_dns_name": "fs-12345678a90b01cde.fsx.us-west-2.amazonaws.com",
    "fsx_mountname": "1abcdefg",
}


def changed(value: Json, *path_and_value: Any) -> Json:
    """A copy with the last argument where the arguments before it lead."""
    made = copy.deepcopy(value)
    *path, last, new = path_and_value
    place: Any = made
    for part in path:
        place = place[part]
    place[last] = new
    return made


def import_of(request: Json, choices: Choices | None = None, parameters: Json | None = PARAMETERS) -> Imported:
    """What importing the request gives, by default with parameters that fit it."""
    return imported(Original(request, parameters, "create_cluster.json"), choices or Choices())


def valid(made: Imported) -> ClusterConfig:
    """The cluster of an import without a problem."""
    assert made.problems == ()
    assert made.config is not None
    return made.config


def reference(folder: str) -> Original:
    """One of the field's reference clusters."""
    [request] = [path for path in (DATA / folder).iterdir() if path.stem in ("create_cluster", "cluster-config")]
    vpc_config = DATA / folder / "vpc-config.json"
    parameters = DATA / folder / "provisioning_parameters.json"
    return read_original(request, *(each if each.exists() else None for each in (parameters, vpc_config)))


def by_scripts(request: Json) -> Json:
    """Return the request of a moved cluster as it was with provisioning parameters."""
    groups = []
    for group in request["InstanceGroups"]:
        scripts = {("OnCreate" if name == "OnInitComplete" else name): value for name, value in group["LifeCycleConfig"].items()}
        storage = [entry for entry in group.get("InstanceStorageConfigs", []) if "FsxLustreConfig" not in entry]
        rest = {name: value for name, value in group.items() if name not in ("SlurmConfig", "InstanceStorageConfigs")}
        groups.append({**rest, "LifeCycleConfig": scripts, **({"InstanceStorageConfigs": storage} if storage else {})})
    return {**{name: value for name, value in request.items() if name != "Orchestrator"}, "InstanceGroups": groups}


def sorted_storage(request: Json) -> Json:
    """Return the request with the storage of each group in one order."""
    groups = [
        {**group, "InstanceStorageConfigs": sorted(group.get("InstanceStorageConfigs", []), key=str)}
        for group in request["InstanceGroups"]
    ]
    return {**request, "InstanceGroups": groups}
