"""A cluster whose nodes run, and what tests do with it."""

import json
from dataclasses import dataclass, field
from typing import Any

from local_aws.nodes.runner import SimulatedNodes
from tests.nodes.on_nodes import run_on
from tests.simulator.hyperpod.world import BUCKET, World, until

UP_S = 60.0


@dataclass
class Running:
    """A cluster on the embedded AWS."""

    world: World
    runner: SimulatedNodes
    groups: dict[str, int] = field(default_factory=lambda: {"controller": 1, "login": 1, "workers": 2})
    name: str = "ml"
    scripts: str = f"s3://{BUCKET}/lifecycle/1/"
    types: dict[str, str] = field(default_factory=dict)  # by group; the world's own for others
    storage: list[dict[str, Any]] | None = None  # InstanceStorageConfigs, if HyperPod configures Slurm from the request

    def create(self, **more: Any) -> None:
        """Create it, and wait until it is in service."""
        orchestrator = {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Merge"}}} if self.storage is not None else {}
        self.world.create(*self._specs(), name=self.name, **orchestrator, **more)
        self.settle()

    def resize(self, group: str, count: int) -> None:
        """Give a group another number of nodes, and wait until it has them."""
        self.groups[group] = count
        self.world.sagemaker.update_cluster(ClusterName=self.name, InstanceGroups=self._specs())
        self.settle()

    def settle(self) -> dict[str, Any]:
        """Wait until nothing is under way."""
        ends = ("InService", "Failed")
        return dict(until(lambda: self.world.cluster(self.name), lambda cluster: cluster["ClusterStatus"] in ends, UP_S))

    def machine(self, name: str) -> dict[str, str]:
        """What is known of a node by its instance name."""
        return next(one for one in self.runner.describe() if (one["cluster"], one["name"]) == (self.name, name))

    def run(self, name: str, *argv: str) -> str:
        """What a program prints on a node; it must end well."""
        return run_on(self.machine(name), *argv, timeout_s=30)

    def listed_on(self, name: str) -> dict[str, str]:
        """The addresses of the cluster's nodes, as a node's own file has them."""
        config = json.loads(self.run(name, "cat", "/opt/ml/config/resource_config.json"))
        return {one["InstanceName"]: one["CustomerIpAddress"] for group in config["InstanceGroups"] for one in group["Instances"]}

    def idle(self, count: int) -> str:
        """What sinfo says once that many nodes are idle and no others are there."""
        look = ("sinfo", "--noheader", "--Node", "--partition=dev", "--format=%N %T")
        lines = until(
            lambda: self.run("controller-1", *look).splitlines(),
            lambda lines: len(lines) == count and all(line.endswith(" idle") for line in lines),
            UP_S,
        )
        return "\n".join(lines)

    def rebooted(self, name: str) -> None:
        """Wait until Slurm has set a node down because it booted again, and resume it, as operators do without our scripts."""
        host = self.machine(name)["host"]
        why = ("sinfo", "--noheader", "--states=down", "--partition=dev", f"--nodes={host}", "--format=%E")
        until(lambda: self.run("controller-1", *why), lambda reason: reason == "Node unexpectedly rebooted", UP_S)
        self.run("controller-1", "scontrol", "update", f"NodeName={host}", "State=RESUME")

    def resumed(self, name: str) -> None:
        """Wait until our scripts on the controller have resumed a node that booted again: until then it may seem idle."""
        self.logged(f"resumed {self.machine(name)['host']}, which slurmctld stopped: Node unexpectedly rebooted")

    def completed(self) -> None:
        """Wait until slurm.conf has what workers report, and they run with it.

        Reconfigured after a reboot, Slurm would not notice the reboot; and each slurmd starts anew.
        """
        self.logged("/opt/slurm/etc/slurm.conf is complete again")
        conf = self.run("controller-1", "cat", "/opt/slurm/etc/slurm.conf")
        workers = [one["name"] for one in self.runner.describe() if one["role"] == "compute"]
        read = ("cat", "/run/slurm/conf/slurm.conf")
        until(lambda: {self.run(name, *read) for name in workers}, lambda found: found == {conf}, UP_S)
        self.idle(len(workers))

    def logged(self, line: str) -> None:
        """Wait until our service on the controller prints a line."""
        journal = ("journalctl", "--unit=hyperpod-slurm-conf", "--output=cat")
        until(lambda: self.run("controller-1", *journal).splitlines(), lambda lines: line in lines, 2 * UP_S)

    def log_of(self, name: str) -> list[str]:
        """The node's lifecycle log in CloudWatch Logs."""
        machine, cluster = self.machine(name), self.world.cluster(self.name)
        group = f"/aws/sagemaker/Clusters/{self.name}/{cluster['ClusterArn'].rpartition('/')[2]}"
        stream = f"LifecycleConfig/{machine['group']}/{machine['id']}"
        events = self.world.client("logs").get_log_events(logGroupName=group, logStreamName=stream, startFromHead=True)
        return [event["message"] for event in events["events"]]

    def _specs(self) -> list[dict[str, Any]]:
        return [self.world.group(name, count, **self._more(name)) for name, count in self.groups.items()]

    def _more(self, name: str) -> dict[str, Any]:
        """What a group's specification has beyond the world's."""
        own = {"InstanceType": self.types[name]} if name in self.types else {}
        if self.storage is None:
            return own | {"LifeCycleConfig": {"SourceS3Uri": self.scripts, "OnCreate": "on_create.sh"}}
        node_type = {"controller": "Controller", "login": "Login"}.get(name, "Compute")
        partitions = {"PartitionNames": [name]} if node_type == "Compute" else {}
        return own | {
            "LifeCycleConfig": {"SourceS3Uri": self.scripts, "OnInitComplete": "on_create.sh"},
            "SlurmConfig": {"NodeType": node_type, **partitions},
            "InstanceStorageConfigs": self.storage,
        }
