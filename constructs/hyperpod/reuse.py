"""Write what `cdk destroy` retains as sections of the next cluster file."""

from config.model import ClusterConfig
from config.network import InternetAccess
from config.section import Removal
from config.storage import StorageConfig
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.storage import SharedStorage


def network_section(config: ClusterConfig, network: Network) -> str:
    """Return the `network` section that reuses the retained network, or nothing if it is imported or deleted.

    A retained cluster keeps gateways and routes, and a VPC takes no second internet gateway. Otherwise they are deleted, and the
    next deployment creates them.
    """
    if config.network.existing or not config.retains_network:
        return ""
    existing = {
        "vpc_id": network.vpc_id,
        "node_subnet_ids": network.node_subnet_ids,
        "security_group_id": network.security_group_id,
        "internet_access": InternetAccess.EXISTING if config.removal is Removal.RETAIN else InternetAccess.CREATE,
    }
    return f"network: {_flow({'existing': existing})}"


def storage_section(config: StorageConfig, storage: SharedStorage) -> str:
    """Return the `storage` section that reuses the retained file system and data bucket, or nothing if none is retained."""
    retained: dict[str, object] = {}
    if config.retains_file_systems:
        retained["existing"] = {"file_system_id": storage.file_system_id, "mount_name": storage.mount_name}
    if storage.data_bucket_name and not config.data_bucket.existing and config.data_bucket.removal is Removal.RETAIN:
        retained["data_bucket"] = {"existing": storage.data_bucket_name}
    kept = {"homes": config.homes} if retained and "homes" in config.model_fields_set else {}
    return f"storage: {_flow({**retained, **kept})}" if retained else ""


def _flow(value: object) -> str:
    """Return the value as YAML on one line, without quotes: ids, names and tokens need none."""
    match value:
        case dict():
            return f"{{{', '.join(f'{key}: {_flow(item)}' for key, item in value.items())}}}"
        case list():
            return f"[{', '.join(map(_flow, value))}]"
    return str(value)
