"""Durations on AWS, in its seconds: one table, which tests and `/_local_aws/durations` can change.

The figures are plausible rather than measured; public reports differ by a factor of two and more.
"""

from local_aws import control

_DEFAULTS: dict[str, float] = {
    # A cluster with the reference's six nodes is InService after about ten minutes.
    "hyperpod.create.launch": 60,  # from the request to the nodes' network interfaces
    "hyperpod.update.launch": 20,
    "hyperpod.describe.stale": 10,  # until DescribeCluster shows a new or changed cluster
    "hyperpod.node.boot": 300,  # from the interfaces to the lifecycle script
    "hyperpod.node.join": 1200,  # until HyperPod gives up on a node that does not join its EKS cluster
    "hyperpod.node.stagger": 20,  # between two nodes
    "hyperpod.node.stagger.max": 240,  # between the first and the last node
    "hyperpod.node.reboot": 180,
    "hyperpod.node.retry": 1200,  # until a failed continuous node is replaced; the field saw 20 to 30 minutes with its boot
    "hyperpod.capacity.retry": 300,  # until continuous provisioning asks for missing instances again
    "hyperpod.node.deep_health_check": 5400,
    "hyperpod.node.jobs_end": 600,  # until a deep health check skips nodes on which jobs still run; documented
    "hyperpod.node.shut_down": 180,
    "hyperpod.settle": 60,  # from the last node's start to InService
    "hyperpod.software": 900,
    "hyperpod.software.retry": 270,  # until a node whose scripts failed starts again: four attempts in 18 minutes
    "hyperpod.roll_back": 180,
    "hyperpod.min_count": 10800,  # until continuous provisioning gives up on a group's minimum
    "hyperpod.delete": 300,
    "hyperpod.delete.retry": 60,  # until a deletion without permission is retried
    "hyperpod.quota": 30,
    "ec2.nat.delete": 60,  # until the interface and the address of a deleted NAT gateway are free
    "ec2.endpoint.delete": 90,  # until the interfaces of a deleted endpoint are gone
    "eks.create": 600,
    "eks.delete": 180,
    "eks.update": 120,
    "eks.update.version": 600,
    "eks.access": 10,  # until the API server knows a changed access entry
    "eks.addon.create": 30,
    "eks.addon.update": 30,
    "eks.addon.delete": 20,
    "fsx.create": 420,
    "fsx.update": 180,
    "fsx.delete": 180,
    "fsx.association.create": 120,
    "fsx.association.update": 60,
    "fsx.association.delete": 60,
}
_durations = dict(_DEFAULTS)


def duration(name: str) -> float:
    """Return the duration of ``name`` in AWS's seconds."""
    return _durations[name]


def change(durations: dict[str, float]) -> dict[str, float]:
    """Change entries of the table and return all of it."""
    unknown = sorted(set(durations) - set(_DEFAULTS))
    if unknown:
        raise ValueError(f"unknown durations: {unknown}; use {sorted(_DEFAULTS)}")
    _durations.update({name: float(seconds) for name, seconds in durations.items()})
    return dict(_durations)


def reset() -> None:
    """Restore the defaults."""
    _durations.update(_DEFAULTS)


def install() -> None:
    """Register the control path."""
    control.route("durations", _handle)


def _handle(request: control.Request) -> dict[str, float]:
    if request.method == "DELETE":
        reset()
    return change(request.json() or {})
