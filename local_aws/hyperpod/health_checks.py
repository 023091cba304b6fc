"""StartClusterHealthCheck: deep health checks of running nodes, on demand.

As documented for Slurm: only nodes with accelerators are checked, others are skipped; they are in a maintenance reservation of
Slurm meanwhile; nodes whose jobs do not end in ten minutes are skipped; a cluster has one request at a time; faulty nodes are
replaced if the cluster recovers nodes. Not documented, and assumed: the error of a second request, the name of the reservation,
that nodes are Running until their jobs have ended, the state of a faulty node without recovery, and that nothing else can change
meanwhile. The results name no instance, as in AWS's example.
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from config.instance_types import accelerator
from local_aws import faults
from local_aws.durations import duration
from local_aws.errors import AwsError
from local_aws.hyperpod.authorization import named_cluster
from local_aws.hyperpod.cluster_events import About, record
from local_aws.hyperpod.deep_checks import ResultLog, set_result, write_result
from local_aws.hyperpod.long_operations import DONE, begin
from local_aws.hyperpod.model import Cluster, Node, is_under_check, lock
from local_aws.hyperpod.recovery import recovers_nodes
from local_aws.hyperpod.recovery import replace as replace_nodes
from local_aws.hyperpod.starting import runner
from local_aws.json_service import Call, Json, Operation
from local_aws.schedule import schedule


def start_cluster_health_check(call: Call) -> Json:
    """Check nodes with accelerators; Slurm starts no jobs on them meanwhile."""
    cluster = named_cluster(call)
    configurations = call.request["DeepHealthCheckConfigurations"]
    nodes = [node for configuration in configurations for node in _nodes(cluster, configuration)]
    if cluster.status != "InService" or is_under_check(cluster):
        why = "a deep health check is in progress" if is_under_check(cluster) else f"it is {cluster.status}"
        raise AwsError("ConflictException", f"Cluster {cluster.name} cannot start a deep health check: {why}.")
    operation = begin(cluster, "DeepHealthCheck", {"DeepHealthCheckDetails": configurations})
    fault = faults.take("sagemaker:StartClusterHealthCheck", "fail")
    _Check(cluster, operation, tuple(nodes), fault.message if fault else "").reserve()
    return {"ClusterArn": cluster.arn}


def _nodes(cluster: Cluster, configuration: Json) -> Iterator[Node]:
    """Yield the running nodes of a configuration that have accelerators."""
    name = configuration["InstanceGroupName"]
    if name not in cluster.groups:
        raise AwsError("ResourceNotFound", f"Instance group {name} not found in cluster {cluster.name}.")
    group = {node.id: node for node in cluster.nodes_of(name)}
    for node_id in configuration.get("InstanceIds") or group:
        if node_id not in group:
            raise AwsError("ResourceNotFound", f"Instance {node_id} not found in instance group {name}.")
        if accelerator(group[node_id].type) and group[node_id].status == "Running":
            yield group[node_id]


@dataclass(frozen=True)
class _Check:
    """A check in progress; ``failure`` is the fault of its first node."""

    cluster: Cluster
    operation: Json
    nodes: tuple[Node, ...]
    failure: str

    @property
    def _reservation(self) -> tuple[str, list[str]]:
        return f"deep-health-check-{self.operation['OperationId'][:8]}", [node.id for node in self.nodes]

    def reserve(self) -> None:
        """Reserve the nodes, and start when their jobs have ended or had the time for it."""
        if self.nodes and self.cluster.eks_arn:
            schedule.after(
                0, lambda: self._start(set())
            )  # the taint keeps new pods away; what AWS does with running ones is unknown
        elif self.nodes:
            runner().reserve(*self._reservation, self._reserved)
        else:
            schedule.after(0, self.end)

    def _reserved(self, busy: set[str]) -> None:
        if busy:
            schedule.after(duration("hyperpod.node.jobs_end"), lambda: runner().reserve(*self._reservation, self._start))
        else:
            self._start(busy)

    def _start(self, busy: set[str]) -> None:
        """Check the nodes without jobs."""
        with lock:
            nodes = tuple(node for node in self.nodes if node.id not in busy and node.status == "Running")
            for node in nodes:
                node.status, node.deep_check = "DeepHealthCheckInProgress", "InProgress"
                record(self.cluster, "Deep health checks started", About(node=node))
        end = replace(self, nodes=nodes).end
        after = duration("hyperpod.node.deep_health_check") if nodes else 0
        schedule.after(after, end if self.cluster.eks_arn else lambda: runner().release(*self._reservation, end))

    def end(self) -> None:
        """Report the results, and return healthy nodes to service."""
        with lock:
            if self.cluster.status == "Deleting":
                return
            self.operation["Status"] = DONE
            for place, node in enumerate(self.nodes):
                if node.stays:
                    self._report(node, self.failure if place == 0 else "")
            self._recover()

    def _report(self, node: Node, failure: str) -> None:
        write_result(ResultLog(self.cluster, node, self.operation["OperationId"]), failure)
        set_result(self.cluster, node, failure)
        record(self.cluster, "Deep health checks ended", About(node=node, failure=failure))

    def _recover(self) -> None:
        cluster = self.cluster
        faulty = [node for node in self.nodes if node in cluster.nodes and node.status == "Failure"]
        if faulty and recovers_nodes(cluster):
            replace_nodes(cluster, faulty)


OPERATIONS: dict[str, Operation] = {"StartClusterHealthCheck": start_cluster_health_check}
