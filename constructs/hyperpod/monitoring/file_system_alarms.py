"""Define alarms on the file system."""

from dataclasses import replace

from constructs import Construct

from config.model import ClusterConfig
from config.storage import LustreConfig
from constructs.hyperpod.monitoring.alarm import AlarmSpec, define_alarms

NAMESPACE = "AWS/FSx"
GIB, MB = 2**30, 10**6
PERIOD_S = 300


class FileSystemAlarms(Construct):
    """Define alarms on the free space and the throughput of a new file system, whose capacity the file defines."""

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, file_system_id: str, topic_arn: str) -> None:
        super().__init__(scope, id)
        lustre = config.storage.lustre
        specs = (_space(config, lustre), _throughput(config, lustre)) if lustre else ()
        named = (replace(spec, dimensions={"FileSystemId": file_system_id}) for spec in specs)
        self.names = define_alarms(self, config.name, topic_arn, named)


def _space(config: ClusterConfig, lustre: LustreConfig) -> AlarmSpec:
    percent = config.monitoring.free_storage_percent
    return AlarmSpec(
        "FileSystemSpaceLow",
        f"The file system has less than {percent} % free space: jobs fail when it is full. Run `./hpod status {config.name}`; "
        "delete files, or increase `storage.lustre.storage_capacity_gib` and deploy",
        NAMESPACE,
        "FreeDataStorageCapacity",
        statistic="Sum",  # of all disks
        comparison="LessThanThreshold",
        threshold=int(lustre.storage_capacity_gib * GIB * percent / 100),
        period_s=60,  # FSx publishes one value a minute
        periods=5,
        missing="ignore",
    )


def _throughput(config: ClusterConfig, lustre: LustreConfig) -> AlarmSpec:
    percent = config.monitoring.throughput_percent
    # FSx counts 1,200 GiB as 1.2 TiB, and 1 MB/s as 1,000,000 bytes a second.
    bytes_per_s = lustre.storage_capacity_gib / 1000 * lustre.throughput_mbps_per_tib * MB
    return AlarmSpec(
        "FileSystemThroughputHigh",
        f"The file system has used more than {percent} % of its throughput for 15 minutes: jobs wait for it. Run `./hpod status "
        f"{config.name}`, and find the jobs with `{'kubectl get pods -A' if config.eks else 'squeue'}`",
        NAMESPACE,
        "DataReadBytes",
        comparison="GreaterThanThreshold",
        threshold=int(bytes_per_s * PERIOD_S * percent / 100),
        period_s=PERIOD_S,
        periods=3,
        plus="DataWriteBytes",
    )
