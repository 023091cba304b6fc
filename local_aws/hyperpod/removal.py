"""The removal of nodes and clusters: nodes shut down, and the execution role deletes their interfaces.

Without permission a node stays in ShuttingDown with the reason. Whether AWS retries is unknown; this does, so that restoring
the permission solves the problem.
"""

from collections.abc import Callable, Iterable

from local_aws.durations import duration
from local_aws.hyperpod import eks_access, network
from local_aws.hyperpod.cluster_events import About, record, set_status
from local_aws.hyperpod.kubernetes.agent import agents
from local_aws.hyperpod.model import Change, Cluster, Node, clusters, lock
from local_aws.hyperpod.roles import MissingPermissionError
from local_aws.hyperpod.starting import runner
from local_aws.schedule import schedule


def shut_down(cluster: Cluster, nodes: Iterable[Node]) -> None:
    """Start to shut nodes down."""
    for node in nodes:
        node.status = "ShuttingDown"
        runner().stop(node.id)
        record(cluster, "Instance is ShuttingDown", About(node=node))


def remove_after(name: str, cluster: Cluster, then: Callable[[Cluster], None]) -> None:
    """Remove the nodes in ShuttingDown after a while, then call ``then``."""

    def remove() -> None:
        with lock:
            if _is_registered(cluster):
                if _remove_now(cluster):
                    then(cluster)
                else:
                    schedule.after(duration("hyperpod.delete.retry"), remove)

    schedule.after(duration(name), remove)


def _remove_now(cluster: Cluster) -> bool:
    """Remove the nodes in ShuttingDown; return whether all of them are gone."""
    for node in [node for node in cluster.nodes if not node.stays]:
        try:
            network.release(cluster, node)
        except (MissingPermissionError, network.NetworkError) as error:
            node.message = str(error)
            record(cluster, "Instance cannot be removed", About(node=node, failure=str(error)))
        else:
            cluster.nodes.remove(node)
    return all(node.stays for node in cluster.nodes)


def begin_delete(cluster: Cluster, ordered_failure: str | None) -> None:
    """Delete the cluster, once all its nodes are gone."""
    cluster.change = Change("delete", ordered_failure=ordered_failure)
    shut_down(cluster, cluster.nodes)
    set_status(cluster, "Deleting")
    if ordered_failure:
        for node in cluster.nodes:
            node.message = ordered_failure
        return
    remove_after("hyperpod.delete", cluster, _forget)


def _forget(cluster: Cluster) -> None:
    eks_access.delete_entries(cluster)
    agents.wake(cluster)
    del clusters(cluster.account, cluster.region)[cluster.name]


def _is_registered(cluster: Cluster) -> bool:
    return clusters(cluster.account, cluster.region).get(cluster.name) is cluster
