"""An EKS file with teams, and the file system of its stack."""

from typing import Any

from cluster_request.kubernetes_objects.shared_file_system import SharedFileSystem
from config.model import ClusterConfig

FILE_SYSTEM = SharedFileSystem("fs-0123456789abcdef0", "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "abcdefgh")


def eks_file(*teams: str, taints: tuple[dict[str, str], ...] = (), **team: Any) -> ClusterConfig:
    """Return a file with these teams, and one group with these taints."""
    group = {"name": "workers", "instance_type": "ml.g5.xlarge", "instance_count": 2, "taints": taints}
    content = {
        "name": "eks",
        "network": {"availability_zone_id": "usw2-az2"},
        "eks": {"version": "1.34", "teams": [{"name": name, **team} for name in teams]},
        "instance_groups": [group],
    }
    return ClusterConfig.model_validate(content)
