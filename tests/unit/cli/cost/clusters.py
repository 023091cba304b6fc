"""Clusters to say the price of."""

import yaml

from config.model import ClusterConfig
from validation.load import parse_cluster

HEAD = {"name": "head", "role": "controller", "instance_type": "ml.c5.xlarge", "instance_count": 1}
WORK = {"name": "work", "role": "compute", "partition": "dev", "instance_type": "ml.g5.8xlarge", "instance_count": 4}


def cluster(*, work: dict[str, object] | None = None, **sections: object) -> ClusterConfig:
    """A controller, four compute nodes and a NAT gateway in us-west-2, and what the test adds."""
    content = {
        "region": "us-west-2",
        "network": {"availability_zone_id": "usw2-az4"},
        "instance_groups": [HEAD, {**WORK, **(work or {})}],
        **sections,
    }
    parsed = parse_cluster(yaml.safe_dump(content).encode(), "priced")
    assert isinstance(parsed, ClusterConfig), parsed
    return parsed
