"""Write the file that describes the instance groups to the lifecycle scripts."""

from config.instance_group import Role
from config.model import ClusterConfig
from constructs.hyperpod.storage import SharedStorage

Parameters = dict[str, object]

# HyperPod reads the first, and rejects it where the request configures Slurm.
SCRIPTS_FILE, API_FILE = "provisioning_parameters.json", "slurm_groups.json"


def file_name(config: ClusterConfig) -> str:
    """Return the name of the file beside the scripts."""
    return API_FILE if config.uses_slurm_api else SCRIPTS_FILE


def static_parameters(config: ClusterConfig) -> Parameters:
    """Return the parameters that are known at synth.

    They contain no instance counts: the hash in the scripts' prefix includes them, and scaling must not change every group.
    """
    controller, login = config.group_of_role(Role.CONTROLLER), config.group_of_role(Role.LOGIN)
    return {
        "version": "1.0.0",
        "workload_manager": "slurm",
        **({"controller_group": controller.name} if controller else {}),
        **({"login_group": login.name} if login else {}),
        "worker_groups": [
            {"instance_group_name": group.name, "partition_name": group.partition} for group in config.of_role(Role.COMPUTE)
        ],
        **({"fsx_openzfs_dns_name": config.storage.openzfs.dns_name} if config.storage.openzfs else {}),
    }


def provisioning_parameters(config: ClusterConfig, storage: SharedStorage) -> Parameters:
    """Return all parameters, with tokens for the names of the file system."""
    if storage.file_system_id is None:
        return static_parameters(config)
    return {**static_parameters(config), "fsx_dns_name": storage.dns_name, "fsx_mountname": storage.mount_name}
