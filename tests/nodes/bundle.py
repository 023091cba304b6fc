"""Our own lifecycle scripts where a cluster's nodes fetch them, as a deployment lays them there, and a file system to mount.

The two files that a deployment writes from a cluster file are written by hand here: what writes them needs the CDK. That it
writes what our scripts read is tested in tests/contract.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.node_settings import Json, node_settings
from tests.simulator.hyperpod.world import BUCKET, World, until

OURS = Path(__file__).parents[2] / "lifecycle_assets"
FOLDER = "lifecycle/1/"  # where the clusters of `World` have their scripts


@dataclass(frozen=True)
class Bundle:
    """Our scripts, with what the cluster file makes of them; its groups are `controller`, `login` and `workers`."""

    parameters: Json = field(default_factory=dict)  # what provisioning_parameters.json has beyond the groups
    settings: Json = field(default_factory=dict)  # what node_settings.json has in place of nothing at all
    extra: Mapping[str, str] = field(default_factory=dict)  # "before_slurm/1_tools.sh" -> text
    source: Path = OURS  # the folder with the scripts, as `lifecycle.source` names it
    parameters_file: str = "provisioning_parameters.json"  # slurm_groups.json with `slurm.setup: api`

    def files(self) -> dict[str, bytes]:
        """All files by their paths below the scripts' folder."""
        scripts = (path for path in self.source.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {
            **{str(path.relative_to(self.source)): path.read_bytes() for path in scripts},
            **{f"extra/{name}": text.encode() for name, text in self.extra.items()},
            self.parameters_file: _json(_PARAMETERS | self.parameters),
            "node_settings.json": _json(node_settings(**self.settings)),
        }


def lay(world: World, bundle: Bundle, folder: str = FOLDER) -> str:
    """Put a bundle where nodes fetch their scripts, and remove what else is there: LifeCycleConfig's SourceS3Uri."""
    s3, files = world.client("s3"), bundle.files()
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=folder)
    for key in [one["Key"] for page in pages for one in page.get("Contents", [])]:
        if key.removeprefix(folder) not in files:
            s3.delete_object(Bucket=BUCKET, Key=key)
    for name, content in files.items():
        s3.put_object(Bucket=BUCKET, Key=f"{folder}{name}", Body=content)
    return f"s3://{BUCKET}/{folder}"


def make_file_system(world: World) -> Json:
    """An FSx for Lustre file system in the clusters' subnet: what provisioning_parameters.json says of it."""
    fsx = world.client("fsx")
    made = fsx.create_file_system(
        FileSystemType="LUSTRE",
        FileSystemTypeVersion="2.15",
        StorageCapacity=1200,
        SubnetIds=[world.ids["subnet"]],
        SecurityGroupIds=[world.ids["security_group"]],
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
    )["FileSystem"]
    found = until(
        lambda: fsx.describe_file_systems(FileSystemIds=[made["FileSystemId"]])["FileSystems"][0],
        lambda system: system["Lifecycle"] == "AVAILABLE",
    )
    return {"fsx_dns_name": found["DNSName"], "fsx_mountname": found["LustreConfiguration"]["MountName"]}


_PARAMETERS: Json = {
    "version": "1.0.0",
    "workload_manager": "slurm",
    "controller_group": "controller",
    "login_group": "login",
    "worker_groups": [{"instance_group_name": "workers", "partition_name": "all-of-them"}],
}


def _json(content: Json) -> bytes:
    return (json.dumps(content, indent=2) + "\n").encode()
