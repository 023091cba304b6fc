"""SageMaker HyperPod clusters on top of moto's SageMaker, which has them InService at once and cannot update them.

It follows public behaviour; where that is unpublished (the order of states, some texts), each module states its assumptions.
"""

from local_aws import durations, network_interfaces
from local_aws.hyperpod import (
    capacity,
    cluster_operations,
    event_operations,
    governance_model,
    governance_operations,
    health_checks,
    health_records,
    long_operations,
    model,
    network,
    node_additions,
    node_moves,
    node_operations,
    quotas,
    recovery,
    service_behaviour,
    sessions,
    starting,
    tag_operations,
    training_plans,
)
from local_aws.hyperpod.kubernetes.agent import agents
from local_aws.json_service import JsonService
from local_aws.schedule import schedule


def install(endpoint: str) -> None:  # noqa: ARG001  part of every service's signature
    """Handle SageMaker's operations on clusters and SSM's on nodes, and register the control paths."""
    from moto.sagemaker.responses import SageMakerResponse  # noqa: PLC0415  moto is loaded once the environment is set
    from moto.ssm.responses import SimpleSystemManagerResponse  # noqa: PLC0415

    modules = (
        *(cluster_operations, node_operations, node_additions, node_moves, event_operations, tag_operations, training_plans),
        *(health_checks, long_operations, governance_operations),
    )
    operations = {name: operation for module in modules for name, operation in module.OPERATIONS.items()}
    JsonService("sagemaker", operations, model.lock).install_before(SageMakerResponse)
    JsonService("ssm", sessions.OPERATIONS, model.lock).install_before(SimpleSystemManagerResponse)
    network_interfaces.install()
    durations.install()
    service_behaviour.install()
    quotas.install()
    capacity.install()
    agents.requested = recovery.request
    health_records.install()
    training_plans.install()
    sessions.install()


def reset() -> None:
    """Delete all clusters and limits, and restore durations."""
    schedule.clear()
    starting.runner().reset()
    with model.lock:
        for cluster in model.everything():
            network.drop(cluster, cluster.nodes)
            cluster.nodes = []  # later reports of a runner have no effect
        model.reset()
        governance_model.reset()
    quotas.reset()
    capacity.reset()
    training_plans.reset()
    sessions.reset()
    durations.reset()
    service_behaviour.reset()
