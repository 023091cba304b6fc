"""The cluster that a verification deploys: a cluster file that each check changes, and the zone of its nodes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from config.model import ClusterConfig
from validation.load import load_clusters

CONTROLLER, WORKERS, ADDED = "controller", "workers", "added"
FIRST_PARTITION, NEW_PARTITION = "first", "second"
CONTROLLER_TYPE, WORKER_TYPE = "ml.c5.xlarge", "ml.m5.large"
NAMESPACES = "mount namespaces of this script and of PID 1:"
SCRIPT = f"""\
#!/usr/bin/env bash
echo "{NAMESPACES} $(readlink /proc/self/ns/mnt /proc/1/ns/mnt | tr '\\n' ' ')"
echo "the host name resolves to: $(getent hosts "$(hostname)" || echo nothing)"
echo "controllers in slurm.conf: $(grep -s ^SlurmctldHost /opt/slurm/etc/slurm.conf | tr '\\n' ' ')"
echo "munge, slurmctld, slurmd, slurmdbd, mariadb: $(systemctl is-active munge slurmctld slurmd slurmdbd mariadb | tr '\\n' ' ')"
"""


@dataclass(frozen=True)
class Size:
    """The number of workers, and of nodes in the group that a check adds; None without that group."""

    workers: int
    added: int | None = None


PEAK = Size(2, 1)


@dataclass(frozen=True)
class Plan:
    """A cluster to verify: its name, place, setup of Slurm and storage."""

    name: str
    region: str
    zone: str
    setup: str = "api"
    lustre: bool = False

    def content(self, size: Size) -> dict[str, Any]:
        """Return the content of the cluster file."""
        groups = [
            _group(CONTROLLER, CONTROLLER_TYPE, 1, role="controller"),
            _group(WORKERS, WORKER_TYPE, size.workers, role="compute", partition=FIRST_PARTITION),
        ]
        if size.added is not None:
            groups.append(_group(ADDED, WORKER_TYPE, size.added, role="compute", partition=NEW_PARTITION))
        return {
            "region": self.region,
            "network": {"availability_zone_id": self.zone},
            **({"storage": {"lustre": {"removal": "destroy"}}} if self.lustre else {}),
            "instance_groups": groups,
            "slurm": {"setup": self.setup},
            **({"provisioning": "continuous"} if self.setup == "api" else {}),
            "lifecycle": {"extra": "extra"},
        }

    def write(self, folder: Path, size: Size) -> ClusterConfig:
        """Write the cluster file and the script that runs on each node, and return the configuration."""
        (folder / f"{self.name}.yaml").write_text(yaml.safe_dump(self.content(size), sort_keys=False))
        scripts = folder / "extra" / "before_slurm"
        scripts.mkdir(parents=True, exist_ok=True)
        (scripts / "10-namespaces.sh").write_text(SCRIPT)
        (config,) = load_clusters(folder, only=self.name)
        return config


def choose_zone(ec2: Any) -> str:
    """Return the id of the first zone that offers the instance types, or of the first zone if EC2 lists none."""
    zones = [each["ZoneId"] for each in ec2.describe_availability_zones()["AvailabilityZones"] if each["State"] == "available"]
    names = [name.removeprefix("ml.") for name in (CONTROLLER_TYPE, WORKER_TYPE)]
    filters = [{"Name": "instance-type", "Values": names}]
    offered = ec2.describe_instance_type_offerings(LocationType="availability-zone-id", Filters=filters)["InstanceTypeOfferings"]
    places = {(each["Location"], each["InstanceType"]) for each in offered}
    return str(next((zone for zone in sorted(zones) if all((zone, name) in places for name in names)), sorted(zones)[0]))


def _group(name: str, type_name: str, count: int, **more: str) -> dict[str, Any]:
    role = more.pop("role")
    return {"name": name, "role": role, **more, "instance_type": type_name, "instance_count": count}
