"""How many addresses of a subnet the nodes take."""

from enum import StrEnum

from config.instance_types import instance_type
from config.model import ClusterConfig


class Orchestrator(StrEnum):
    """What runs the jobs; a node takes more addresses where its containers have some of their own."""

    SLURM = "slurm"
    EKS = "eks"


def orchestrator_of(config: ClusterConfig) -> Orchestrator:
    """What runs the cluster's jobs: Slurm, unless the file asks the API for something else."""
    asked = config.overrides.get("Orchestrator")
    return Orchestrator.EKS if isinstance(asked, dict) and asked.get("Eks") else Orchestrator.SLURM


def addresses_of_node(instance_type_name: str, orchestrator: Orchestrator, *, efa_only: bool = False) -> int | None:
    """The addresses that a node of this type takes; None where the figures of the type are not known.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html: with Slurm, one on each network card
    (32 on a P5); with EKS, all that the first card's interface can have, for pods, and one on each other card (81 on a P5).
    ``efa_only`` is the `NetworkInterface` of a group whose further interfaces have no address:
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
    """
    known = instance_type(instance_type_name)
    if known is None:
        return None
    first = known.addresses_per_interface if orchestrator is Orchestrator.EKS else 1
    return first if efa_only else first + known.network_cards - 1
