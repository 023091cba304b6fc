"""Build the volume claims through which pods use the cluster's FSx for Lustre file system.

A volume binds to one claim, so each team's namespace has a volume and a claim. Volumes and claims cannot change to another
file system, and a claim cannot be deleted while pods use it. So both have the file system's id in their names: another file
system gets new ones beside the old ones, which are deleted when no pod uses them any more.
"""

from typing import NamedTuple

from cluster_request.kubernetes_objects.builders import Json

DRIVER = "fsx.csi.aws.com"
# Kubernetes requires a size, but neither it nor the driver limits the data to it. One that never changes fits an immutable claim.
CAPACITY = "1200Gi"
ACCESS = "ReadWriteMany"


class SharedFileSystem(NamedTuple):
    """The file system: in a template its values are tokens."""

    file_system_id: str
    dns_name: str
    mount_name: str

    @property
    def claim_name(self) -> str:
        """Return the name of the claim in each team's namespace."""
        return f"fsx-{self.file_system_id}"


def file_system_objects(file_system: SharedFileSystem, space: str) -> list[Json]:
    """Return the volume and the claim for a namespace."""
    volume = f"{file_system.claim_name}-{space}"
    return [_volume(volume, file_system, space), _claim(volume, file_system.claim_name, space)]


def _volume(name: str, file_system: SharedFileSystem, space: str) -> Json:
    attributes = {"dnsname": file_system.dns_name, "mountname": file_system.mount_name}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "accessModes": [ACCESS],
            "capacity": {"storage": CAPACITY},
            # No other claim gets the volume, even one that exists before it.
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": file_system.claim_name, "namespace": space},
            "csi": {"driver": DRIVER, "volumeHandle": file_system.file_system_id, "volumeAttributes": attributes},
            "mountOptions": ["flock"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "",
        },
    }


def _claim(volume: str, name: str, space: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": space},
        "spec": {
            "accessModes": [ACCESS],
            "resources": {"requests": {"storage": CAPACITY}},
            # Without a class, so that no default class provisions another volume.
            "storageClassName": "",
            "volumeName": volume,
        },
    }
