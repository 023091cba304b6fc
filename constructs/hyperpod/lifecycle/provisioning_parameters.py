"""provisioning_parameters.json, from which a node's scripts learn what each instance group is."""

from config.instance_group import InstanceGroup, Role
from config.model import ClusterConfig
from constructs.hyperpod.storage.shared_storage import SharedStorage

Parameters = dict[str, object]

FILE = "provisioning_parameters.json"


def static_parameters(config: ClusterConfig) -> Parameters:
    """What the cluster file alone decides.

    Nothing in it may follow from a count: the scripts' prefix stands for this content, so that going from four nodes to six
    would change what every group of the cluster starts from.
    """
    login_groups = _named(config, Role.LOGIN)
    return {
        "version": "1.0.0",
        "workload_manager": "slurm",
        "controller_group": _named(config, Role.CONTROLLER)[0].name,
        **({"login_group": login_groups[0].name} if login_groups else {}),
        "worker_groups": [
            {"instance_group_name": group.name, "partition_name": group.partition} for group in _named(config, Role.COMPUTE)
        ],
        **({"fsx_openzfs_dns_name": config.storage.openzfs.dns_name} if config.storage.openzfs else {}),
    }


def provisioning_parameters(config: ClusterConfig, storage: SharedStorage) -> Parameters:
    """The whole file; the file system's names are known at deployment."""
    if storage.file_system_id is None:
        return static_parameters(config)
    return {**static_parameters(config), "fsx_dns_name": storage.dns_name, "fsx_mountname": storage.mount_name}


def _named(config: ClusterConfig, role: Role) -> list[InstanceGroup]:
    return [group for group in config.instance_groups if group.role is role]
