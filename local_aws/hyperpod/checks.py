"""The service's checks of a request beyond its model: names, counts, scripts, Slurm, roles, network."""

from collections import Counter
from collections.abc import Iterable

from local_aws.errors import AwsError
from local_aws.hyperpod import eks_checks
from local_aws.hyperpod.model import Cluster, instance_type
from local_aws.hyperpod.network import check_vpc
from local_aws.hyperpod.roles import SERVICE, is_assumable
from local_aws.json_service import Call, Json

_FIXED = ("InstanceType", "ExecutionRole", "ThreadsPerCore", "OverrideVpcConfig")


def invalid(message: str) -> AwsError:
    """Return the error of an invalid request."""
    return AwsError("ValidationException", message)


def check_cluster(call: Call, settings: Json, specs: list[Json]) -> None:
    """Refuse settings and groups from which no cluster can be created."""
    if not specs:
        raise invalid("a cluster must have at least one instance group")
    if settings.get("VpcConfig"):
        check_vpc(call, settings["VpcConfig"])
    eks_checks.check_orchestrator(call, settings)
    check_groups(call, settings, specs, specs)


def check_groups(call: Call, settings: Json, specs: list[Json], requested: list[Json]) -> None:
    """Refuse groups that contradict themselves, each other or the cluster; ``requested`` are those in the request."""
    names = Counter(spec["InstanceGroupName"] for spec in specs)
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise invalid(f"instance group names must be unique, got {twice} more than once")
    for spec in requested:
        _check_group(call, settings, spec)
    eks_checks.check_groups(call, settings, specs)
    _check_slurm(settings, specs)


def _check_group(call: Call, settings: Json, spec: Json) -> None:
    name = spec["InstanceGroupName"]
    if ("InstanceType" in spec) == ("InstanceRequirements" in spec):
        raise invalid(f"instance group {name} must have either InstanceType or InstanceRequirements")
    if spec.get("MinInstanceCount", 0) > spec["InstanceCount"]:
        raise invalid(f"MinInstanceCount of instance group {name} must be at most InstanceCount")
    _check_scripts(name, spec)
    _check_storage(name, spec.get("InstanceStorageConfigs") or [], has_vpc=bool(settings.get("VpcConfig")))
    if "OverrideVpcConfig" in spec:
        if "VpcConfig" not in settings:
            raise invalid(f"OverrideVpcConfig of instance group {name} needs the cluster's VpcConfig")
        check_vpc(call, {kind: [*settings["VpcConfig"][kind], *ids] for kind, ids in spec["OverrideVpcConfig"].items()})
    role = spec["ExecutionRole"]
    call.authorize("iam:PassRole", role, {"iam:PassedToService": SERVICE})
    if not is_assumable(call.account, role):
        raise invalid(
            f"SageMaker cannot assume the execution role {role}. It must exist, and its trust policy must allow {SERVICE}"
        )


def _check_scripts(name: str, spec: Json) -> None:
    """Refuse scripts that no node could start, and a group without any set-up.

    The texts come from "Common validation errors", as far as AWS publishes them:
    https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    """
    scripts = spec.get("LifeCycleConfig")
    if scripts is None:
        if "SlurmConfig" not in spec:
            raise invalid(f"LifeCycleConfig is required for instance group {name}, which has no SlurmConfig")
        return
    started = [member for member in ("OnCreate", "OnInitComplete") if scripts.get(member)]
    if not started:
        raise invalid(f"LifeCycleConfig for instance group is provided but contains no configuration: {name}")
    if len(started) > 1:
        raise invalid(f"OnCreate and OnInitComplete in LifeCycleConfig are mutually exclusive: instance group {name}")
    if not scripts.get("SourceS3Uri"):
        raise invalid(f"LifeCycleConfig for instance group is incomplete: {name} has {started[0]} and no SourceS3Uri")


def _check_storage(name: str, storage: list[Json], *, has_vpc: bool) -> None:
    for kind in ("FsxLustreConfig", "FsxOpenZfsConfig"):
        if not has_vpc and any(kind in item for item in storage):
            raise invalid(f"FSx configurations are only supported for Custom VPC: instance group {name}")
        if sum(kind in item for item in storage) > 1:
            raise invalid(f"instance group {name} can have one {kind} at most")
    for volume in (item["EbsVolumeConfig"] for item in storage if "EbsVolumeConfig" in item):
        if volume.get("RootVolume") and "VolumeSizeInGB" in volume:
            raise invalid(f"the root volume of instance group {name} takes no VolumeSizeInGB")


def _check_slurm(settings: Json, specs: Iterable[Json]) -> None:
    orchestrator = settings.get("Orchestrator") or {}
    kinds = Counter(spec["SlurmConfig"]["NodeType"] for spec in specs if "SlurmConfig" in spec)
    continuous = settings.get("NodeProvisioningMode") == "Continuous"
    if "Eks" in orchestrator:
        return
    if continuous and not kinds:
        raise invalid(
            "the cluster has no InstanceGroup with SlurmConfig which is required for Continuous Node Provisioning Mode clusters"
        )
    if kinds and (kinds["Controller"] != 1 or kinds["Login"] > 1):
        raise invalid(f"exactly one group must have NodeType Controller and at most one Login, got {dict(kinds)}")
    for spec in specs:
        _check_partitions(spec["InstanceGroupName"], spec.get("SlurmConfig"))
    slurm = orchestrator.get("Slurm") or {}
    if continuous and "SlurmConfigStrategy" in slurm:
        raise invalid("SlurmConfigStrategy cannot be set with NodeProvisioningMode Continuous")
    if "AccountingDatabase" in slurm and not continuous:
        raise invalid("AccountingDatabase needs NodeProvisioningMode Continuous")


def _check_partitions(name: str, slurm: Json | None) -> None:
    if slurm and (slurm["NodeType"] == "Compute") != bool(slurm.get("PartitionNames")):
        raise invalid(f"instance group {name}: groups of NodeType Compute, and only they, must have PartitionNames")


def check_update(cluster: Cluster, specs: Iterable[Json], deleted: Iterable[str]) -> None:
    """Refuse an update that changes immutable fields, deletes unknown groups, or leaves no group."""
    doomed = list(deleted)
    missing = sorted(set(doomed) - set(cluster.groups))
    if missing:
        raise invalid(f"instance groups {missing} of InstanceGroupsToDelete do not exist in cluster {cluster.name}")
    named = {spec["InstanceGroupName"]: spec for spec in specs}
    both = sorted(set(doomed) & set(named))
    if both:
        raise invalid(f"instance groups {both} are in InstanceGroups and in InstanceGroupsToDelete")
    if not (set(cluster.groups) | set(named)) - set(doomed):
        raise invalid(f"cluster {cluster.name} must keep at least one instance group")
    for name, spec in named.items():
        if name in cluster.groups:
            _check_fixed(name, cluster.groups[name].spec, spec)
        elif spec["InstanceCount"] < 1:
            raise invalid(f"InstanceCount of the new instance group {name} must be at least 1")


def _check_fixed(name: str, old: Json, new: Json) -> None:
    for field in _FIXED:
        if old.get(field) != new.get(field):
            raise invalid(f"{field} of instance group {name} cannot be changed from {old.get(field)} to {new.get(field)}")
    old_kind, new_kind = (spec.get("SlurmConfig", {}).get("NodeType") for spec in (old, new))
    if old_kind != new_kind:
        raise invalid(f"SlurmConfig.NodeType of instance group {name} cannot be changed from {old_kind} to {new_kind}")


def growth(cluster: Cluster | None, specs: Iterable[Json]) -> Counter[str]:
    """Return the number of additional instances per type that ``specs`` request."""
    more: Counter[str] = Counter()
    for spec in specs:
        have = cluster.groups[spec["InstanceGroupName"]].target if cluster and spec["InstanceGroupName"] in cluster.groups else 0
        more[instance_type(spec)] += spec["InstanceCount"] - have
    return more
