"""FSx for Lustre on top of moto's FSx, which has no states, associations, network or mount names.

No data is stored: a file system cannot be mounted, and an association imports and exports nothing.
"""

from local_aws import durations, network_interfaces
from local_aws.fsx import association_operations, file_system_operations, metrics, model, tag_operations
from local_aws.json_service import JsonService


def install(endpoint: str) -> None:  # noqa: ARG001  part of every service's signature
    """Handle FSx's operations on Lustre file systems and their associations."""
    from moto.fsx.responses import FSxResponse  # noqa: PLC0415  moto is loaded once the environment is set

    modules = (file_system_operations, association_operations, tag_operations)
    operations = {name: operation for module in modules for name, operation in module.OPERATIONS.items()}
    JsonService("fsx", operations, model.lock).install_before(FSxResponse)
    network_interfaces.install()
    durations.install()
    metrics.install()


def reset() -> None:
    """Delete all file systems and associations."""
    with model.lock:
        for file_system in model.everything():
            network_interfaces.delete(file_system.account, file_system.region, file_system.interfaces)
        model.reset()
    metrics.reset()
