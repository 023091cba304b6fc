"""Build the roles that let HyperPod's service check nodes, restart jobs and patch."""

from cluster_request.kubernetes_objects.builders import (
    Json,
    binding_of_role,
    binding_to_user,
    cluster_role,
    rule,
    service_account,
)

SERVICE_USER = "hyperpod-service-linked-role"
"""The Kubernetes user of HyperPod's service-linked role, for which HyperPod creates the access entry."""
HEALTH_CHECK_ACCOUNT = "deep-health-check-service-account"


def service_roles() -> list[Json]:
    """Return roles and bindings."""
    return [*_deep_health_check(), *_job_auto_restart(), *_patching()]


def _deep_health_check() -> list[Json]:
    # charts/deep-health-check: its pods read the nodes that they check, and mark themselves as done.
    role = cluster_role(
        "deep-health-check",
        rule(["nodes"], ["get", "list"]),
        rule(["pods"], ["get", "list", "patch"]),
    )
    return [
        service_account(HEALTH_CHECK_ACCOUNT),
        role,
        binding_of_role("deep-health-check", "deep-health-check", HEALTH_CHECK_ACCOUNT),
    ]


def _job_auto_restart() -> list[Json]:
    # charts/job-auto-restart: the service deletes the pods of a failed node and restarts PyTorchJobs.
    jobs = ["get", "list", "watch", "delete", "patch", "update"]
    role = cluster_role(
        "job-auto-restart",
        rule(["nodes", "nodes/status", "pods", "pods/status"], ["get", "list", "watch"]),
        rule(["pods"], ["delete", "deletecollection"]),
        rule(["nodes", "nodes/status"], ["patch"]),
        rule(["events"], ["create"]),
        rule(["pytorchjobs", "pytorchjobs/status"], jobs, ["kubeflow.org"]),
        rule(["leases"], ["get", "create", "update", "delete"], ["coordination.k8s.io"]),
    )
    return [role, binding_to_user("job-auto-restart", SERVICE_USER)]


def _patching() -> list[Json]:
    # charts/hyperpod-patching: the service evicts the pods of a node before it patches it.
    role = cluster_role("hyperpod-patching", rule(["pods"], ["list"]), rule(["pods/eviction"], ["create"]))
    return [role, binding_to_user("hyperpod-patching", SERVICE_USER)]
