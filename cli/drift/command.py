"""`./hpod drift CLUSTER`: what differs between the cluster file, the cluster and its nodes."""

from datetime import UTC, datetime

from cli.counted import counted
from cli.deployment import Deployment
from cli.drift.of_cluster import Difference, cluster_differences, node_differences
from cli.errors import CommandError
from cli.node_reports import Report, latest_states
from cli.ownership import cluster_named
from cli.parts import Parts
from cli.resource_code import ClusterApi
from cli.result import Result
from cli.status.report import desired_bundle

NOT_COMPARED = ["fields of objects in Kubernetes", "labels and taints of nodes", "scripts of nodes"]
"""What differs unseen on a cluster with EKS."""


def drift(deployment: Deployment, *, exit_code: bool = False, now: datetime | None = None) -> Result:
    """Return every difference; with ``exit_code``, fail if there is one."""
    name = deployment.cluster()["ClusterName"]
    api = ClusterApi(deployment.client("sagemaker"))
    cluster = cluster_named(api, name)
    if cluster is None:
        raise CommandError(f"cluster {name} was deleted during the comparison", f"run `{deployment.hpod('status')}`")
    parts = Parts("drift")
    has_agents = not deployment.is_eks
    not_compared = [] if has_agents else NOT_COMPARED
    read = (lambda: latest_states(deployment, now or datetime.now(UTC))) if has_agents else dict[str, Report]
    states = parts.get("agents", read) or {}
    bundle = parts.get("bundle", lambda: desired_bundle(deployment)) or ""
    nodes = deployment.nodes(name)
    found: list[Difference] = [
        *cluster_differences(deployment, cluster, api),
        *node_differences(cluster, nodes, states, bundle),
        *([] if has_agents else _of_kubernetes(deployment, parts, str(cluster.arn))),
    ]
    silent = sum(node["InstanceId"] not in states for node in nodes) if has_agents else 0
    lines = [
        f"{counted(len(found), 'difference') if found else 'no differences'} between the file, cluster {name} and its nodes",
        *([f"{silent} of {len(nodes)} nodes have no agent: their scripts are unknown"] if silent else []),
        *([f"not compared: {', '.join(not_compared)}"] if not_compared else []),
    ]
    data = {
        "cluster": name,
        "in_sync": not found,
        "differences": [each.data() for each in found],
        "nodes_without_agent": silent,
        "not_compared": not_compared,
    }
    shown = ["\n".join(each.lines for each in found)] if found else []
    text = (*shown, "\n".join([*lines, *map(str, parts.missing)]))
    failure = "the file, the cluster and its nodes differ" if found and exit_code else ""
    return Result(data, text, parts.problems, failure)


def _of_kubernetes(deployment: Deployment, parts: Parts, cluster_arn: str) -> list[Difference]:
    from cli.drift.of_eks import object_differences, quota_differences  # noqa: PLC0415  clusters with Slurm do not need it

    objects = parts.get("objects in Kubernetes", lambda: object_differences(deployment)) or []
    return [*quota_differences(deployment, parts, cluster_arn), *objects]
