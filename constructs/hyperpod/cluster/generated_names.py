"""Generate cluster names for files without ``cluster_name``."""

from config.model import ClusterConfig

HASH_LENGTH = 12
"""Length of the hash that the custom resource appends: cluster_resource/event.py."""


def cluster_names(config: ClusterConfig) -> str:
    """Return the cluster's name, or an IAM pattern of generated names that matches no cluster of a file ``NAME-prod``."""
    return config.cluster_name or f"{config.name}-{'?' * HASH_LENGTH}"
