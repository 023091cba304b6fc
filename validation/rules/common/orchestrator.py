"""Check the choice of the orchestrator."""

from collections.abc import Iterator

from config.errors import ABSENT, Problem
from config.model import ClusterConfig, Orchestrator
from validation.rules.registry import rule


@rule("one-orchestrator", "slurm", "eks", orchestrator=Orchestrator.EKS)
def one_orchestrator(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm` and `eks` exclude each other.

    HyperPod runs one orchestrator on a cluster, and cannot change it later.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterOrchestrator.html
    if "slurm" in config.model_fields_set:
        yield Problem(("eks",), ABSENT, "cannot be combined with `slurm`", "keep only one")
