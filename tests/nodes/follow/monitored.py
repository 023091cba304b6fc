"""A cluster whose nodes follow a pointer, with the alarms of its monitoring stack and the troubles that raise them."""

import json
from pathlib import Path
from typing import Any

from cli.deployment import Deployment
from config.model import ClusterConfig
from tests.local.alarms.monitored import bootstrap, deploy, outputs, template_of
from tests.nodes.bundle import lay
from tests.nodes.follow.following import Following, bundle, sha256_of
from tests.simulator.hyperpod.world import REGION, World
from validation.load import parse_cluster

PACE = 20.0
"""Four minutes without slurmctld are twelve seconds: agents run every second instead of every minute."""

FILL_ROOT = "fallocate -l $(($(stat --file-system --format='%a * %S' /) * 97 / 100)) /root/full"
END_SLURMCTLD = "mv /opt/slurm/sbin/slurmctld /root && systemctl kill --signal=KILL slurmctld"
ROLES: dict[str, dict[str, str]] = {
    "controller": {"role": "controller"},
    "login": {"role": "login"},
    "workers": {"role": "compute", "partition": "dev"},
}


class Session:
    """A session whose clients are the world's."""

    region_name = REGION

    def __init__(self, world: World) -> None:
        self.client = world.client


def tamper(cluster: Following, carol: str) -> None:
    """Point to a bundle, and change a script of it in the bucket."""
    cluster.generation = max(cluster.generation, cluster.pointed()["generation"]) + 1
    cluster.sha256 = sha256_of(bundle(carol, script="#!/bin/sh\ntrue\n").files())
    lay(cluster.world, bundle(carol, script="#!/bin/sh\ntouch /root/tampered\n"), cluster.folder)
    cluster.point()


def monitored(cluster: Following, folder: Path) -> Deployment:
    """Deploy the monitoring stack, and a stack with the outputs that it reads."""
    client, arn = cluster.world.client, cluster.world.cluster(cluster.name)["ClusterArn"]
    note = {"Type": "AWS::SSM::Parameter", "Properties": {"Name": "/note", "Type": "String", "Value": "x"}}
    ids = outputs({"ClusterName": cluster.name, "ClusterArn": arn, "ClusterId": arn.rpartition("/")[2]})
    ids["ClusterName"]["Description"] = "name"
    bootstrap(client)
    assert deploy(client, "ml-Cluster", {"Resources": {"Note": note}, "Outputs": ids}) == "CREATE_COMPLETE"
    config = _config(cluster)
    assert deploy(client, "ml-Monitoring", template_of(config, folder)) == "CREATE_COMPLETE"
    session: Any = Session(cluster.world)
    return Deployment(config, session)


def _config(cluster: Following) -> ClusterConfig:
    groups = [
        {"name": name, "instance_type": "ml.c5.xlarge", "instance_count": count, **ROLES[name]}
        for name, count in cluster.groups.items()
    ]
    file = {"network": {"availability_zone_id": "usw2-az1"}, "instance_groups": groups}
    config = parse_cluster(json.dumps(file).encode(), "ml")
    assert isinstance(config, ClusterConfig), config
    return config
