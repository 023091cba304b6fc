"""FSx's metrics in CloudWatch: free space and throughput, published every minute while there are alarms.

The free space is that of the folder that simulated nodes mount; without nodes, a file system is empty. `/_local_aws/fsx-load`
sets other values: nothing else measures throughput.
"""

import shutil
from dataclasses import dataclass

from local_aws import control
from local_aws.fsx import model
from local_aws.metrics import alarms
from local_aws.metrics.values import Metric

_GIB = 2**30
_MB = 10**6


@dataclass(frozen=True)
class Load:
    """The load of a file system: its free space, if set, and what its clients read and write."""

    free_percent: float | None = None
    read_mbps: float = 0
    write_mbps: float = 0


_loads: dict[str, Load] = {}


def install() -> None:
    """Publish metrics, and register the control path: an object of file systems and their load."""
    alarms.every_minute(_publish)
    control.route("fsx-load", _handle)


def reset() -> None:
    """Delete all loads."""
    _loads.clear()


def _handle(request: control.Request) -> dict[str, object]:
    for file_system, load in (request.json() or {}).items():
        _loads[file_system] = Load(**load)
    return {name: vars(load) for name, load in _loads.items()}


def _publish(seconds: float) -> None:
    with model.lock:
        systems = [each for each in model.everything() if each.lifecycle == "AVAILABLE"]
    for system in systems:
        load = _loads.get(system.id, Load())
        _count(system, "FreeDataStorageCapacity", _free_bytes(system, load))
        _count(system, "DataReadBytes", load.read_mbps * _MB * seconds)
        _count(system, "DataWriteBytes", load.write_mbps * _MB * seconds)


def _free_bytes(system: model.FileSystem, load: Load) -> float:
    capacity = float(system.capacity or 0) * _GIB
    if load.free_percent is not None:
        return capacity * load.free_percent / 100
    if system.folder is None or not system.folder.exists():
        return capacity
    usage = shutil.disk_usage(system.folder)
    return capacity * usage.free / usage.total


def _count(system: model.FileSystem, name: str, value: float) -> None:
    dimensions = frozenset({("FileSystemId", system.id)})
    alarms.count(Metric(system.account, system.region, "AWS/FSx", name, dimensions), value)
