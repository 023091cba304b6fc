"""Check the choice of the orchestrator."""

from collections.abc import Iterator

from config.errors import Problem
from config.model import ClusterConfig, Orchestrator
from validation.rules.registry import rule


@rule("one-orchestrator", "slurm", "eks", orchestrator=Orchestrator.EKS)
def one_orchestrator(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm` and `eks` exclude each other.

    HyperPod runs one orchestrator on a cluster, and cannot change it later.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestrator.html
    if "slurm" in config.model_fields_set:
        yield Problem(("eks",), config.eks, "cannot be combined with `slurm`; keep only one")


@rule("eks-not-supported", "slurm", "eks", orchestrator=Orchestrator.EKS)
def eks_not_supported(config: ClusterConfig) -> Iterator[Problem]:
    """`eks` is not supported yet.

    This release creates only Slurm clusters.
    """
    if "slurm" not in config.model_fields_set:
        yield Problem(("eks",), config.eks, "not supported yet; remove it to create a Slurm cluster")
