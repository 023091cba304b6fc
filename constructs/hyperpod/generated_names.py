"""The names of clusters whose file has no ``cluster_name``."""

from config.model import ClusterConfig, Implementation
from constructs.hyperpod.fingerprint import fingerprint
from constructs.hyperpod.network import Network

HASH_LENGTH = 12
"""Of the hash that the custom resource appends: cluster_resource/event.py."""


def native_name(config: ClusterConfig, network: Network) -> str:
    """Return the name of a native cluster, which has to be known at synth."""
    return f"{config.name}-{fingerprint(network.identity)}"


def name_pattern(config: ClusterConfig) -> str:
    """Return an IAM pattern of the custom resource's names, which matches no cluster of another file, as ``NAME-prod``."""
    return f"{config.name}-{'?' * HASH_LENGTH}"


def names_of_clusters(config: ClusterConfig, network: Network) -> list[str]:
    """Return the names, or patterns of them, that the file's clusters may have."""
    if config.cluster_name:
        return [config.cluster_name]
    match config.implementation:
        case Implementation.CUSTOM_RESOURCE:
            return [name_pattern(config)]
        case Implementation.NATIVE:
            return [native_name(config, network)]
    return [name_pattern(config), native_name(config, network)]  # a cluster of either kind may run on without the stack
