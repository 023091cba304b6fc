"""Generate cluster names for files without ``cluster_name``."""

from config.fingerprint import fingerprint
from config.model import ClusterConfig, Implementation
from constructs.hyperpod.network.network import Network

HASH_LENGTH = 12
"""Length of the hash that the custom resource appends: cluster_resource/event.py."""


def native_name(config: ClusterConfig, network: Network) -> str:
    """Return the name of a native cluster, which must be known at synth."""
    return f"{config.name}-{fingerprint(network.identity)}"


def name_pattern(config: ClusterConfig) -> str:
    """Return an IAM pattern for the custom resource's names; it does not match clusters of a file ``NAME-prod``."""
    return f"{config.name}-{'?' * HASH_LENGTH}"


def names_of_clusters(config: ClusterConfig, network: Network) -> list[str]:
    """Return names and name patterns of the file's possible clusters."""
    if config.cluster_name:
        return [config.cluster_name]
    match config.implementation:
        case Implementation.CUSTOM_RESOURCE:
            return [name_pattern(config)]
        case Implementation.NATIVE:
            return [native_name(config, network)]
    return [name_pattern(config), native_name(config, network)]  # a retained cluster of either kind
