"""Build what a team has in Kubernetes: a namespace, and rights in it.

HyperPod task governance uses the same namespace, and creates it only if it does not exist. Ours exists first, because the
quotas are created after it. A server-side apply does not change labels of other managers, so both keep theirs.
"""

from collections.abc import Iterable

from cluster_request.kubernetes_objects.builders import (
    Json,
    binding,
    cluster_role,
    group_subject,
    namespace,
    rule,
)
from config.teams import Team

GROUP_PREFIX = "hyperpod-cdk:team:"
TEAM_ROLE = "hyperpod-cdk-team"
NODE_ROLE = "hyperpod-cdk-team-nodes"
READ = ("get", "list", "watch")
ALL = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
MODES = ("enforce", "audit", "warn")
NO_LOAD_BALANCERS = "no-load-balancers"


def team_group(name: str) -> str:
    """Return the Kubernetes group of a team, which the access entries of its roles name."""
    return f"{GROUP_PREFIX}{name}"


def team_roles(teams: Iterable[Team]) -> list[Json]:
    """Return the roles that all teams share, and the binding that lets each team list nodes; nothing without teams."""
    subjects = [group_subject(team_group(team.name)) for team in teams]
    if not subjects:
        return []
    return [
        cluster_role(
            TEAM_ROLE,
            rule(["configmaps", "persistentvolumeclaims", "pods", "secrets", "services"], ALL),
            rule(["events", "pods/log"], READ),
            # kubectl opens them with POST or, since 1.31, with GET.
            rule(["pods/attach", "pods/exec", "pods/portforward"], ["create", "get"]),
            rule(["jobs"], ALL, ["batch"]),
            rule(["pytorchjobs"], ALL, ["kubeflow.org"]),
            rule(["hyperpodpytorchjobs"], ALL, ["sagemaker.amazonaws.com"]),
            rule(["localqueues", "workloads"], READ, ["kueue.x-k8s.io"]),
        ),
        cluster_role(NODE_ROLE, rule(["nodes"], READ), rule(["workloadpriorityclasses"], READ, ["kueue.x-k8s.io"])),
        binding(NODE_ROLE, NODE_ROLE, subjects),
    ]


def team_objects(team: Team) -> list[Json]:
    """Return a team's namespace with its Pod Security level and without load balancers, and the binding of its group."""
    labels = {f"pod-security.kubernetes.io/{mode}": team.pod_security.value for mode in MODES}
    return [
        namespace(team.namespace, labels),
        _no_load_balancers(team.namespace),
        binding(TEAM_ROLE, TEAM_ROLE, [group_subject(team_group(team.name))], team.namespace),
    ]


def _no_load_balancers(space: str) -> Json:
    """Return the quota that allows no Service of type LoadBalancer.

    EKS would create a load balancer, which the internet can reach, and a security group, which keeps CloudFormation from deleting
    the VPC.
    """
    metadata = {"name": NO_LOAD_BALANCERS, "namespace": space}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"services.loadbalancers": "0"}}}
