"""Read the section that every file with EKS has."""

from config.eks import EksConfig
from config.model import ClusterConfig


def eks_of(config: ClusterConfig) -> EksConfig:
    """Return the `eks` section."""
    assert config.eks is not None  # noqa: S101  rules for EKS run only with the section
    return config.eks
