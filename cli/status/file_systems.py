"""The file systems of a cluster: their state, their associations and their free space."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from cli.deployment import Deployment
from cli.node_reports import Report
from cli.pages import listed
from cli.result import Json, Table
from config.storage import LustreConfig

METRIC, LUSTRE_METRICS = "FreeDataStorageCapacity", "AWS/FSx"
PERIOD = timedelta(minutes=5)
GIB = 2**30


def file_systems(deployment: Deployment, outputs: Mapping[str, str], states: Iterable[Report], now: datetime) -> list[Json]:
    """Return the file systems of the deployment that are mounted on the nodes."""
    openzfs = deployment.config.storage.openzfs
    known = {outputs.get("FileSystemId", ""): LustreConfig.mount_path}
    if openzfs:
        known[openzfs.dns_name.partition(".")[0]] = openzfs.mount_path
    known.pop("", None)
    if not known:
        return []
    fsx = deployment.client("fsx")
    described = fsx.describe_file_systems(FileSystemIds=list(known))["FileSystems"]
    latest = sorted(states, key=lambda each: each.time)
    return [
        {
            "id": each["FileSystemId"],
            "path": known[each["FileSystemId"]],
            "type": each.get("FileSystemType"),
            "status": each["Lifecycle"],
            "message": (each.get("FailureDetails") or {}).get("Message"),
            "capacity_gib": each.get("StorageCapacity"),
            "free_percent": _of_nodes(known[each["FileSystemId"]], latest),
            "free_gib": _of_metric(deployment, each["FileSystemId"], now),
            "associations": _associations(fsx, each["FileSystemId"]) if each.get("FileSystemType") == "LUSTRE" else [],
        }
        for each in described
    ]


def file_system_blocks(found: list[Json]) -> list[str | Table]:
    """Return the table of file systems, and a table of their associations."""
    if not found:
        return []
    rows = [(each["id"], each["path"], each["status"], _size(each), _free(each)) for each in found]
    links = [(link["path"] or "-", link["s3"] or "-", link["status"]) for each in found for link in each["associations"]]
    failures = [each["message"] for system in found for each in (system, *system["associations"]) if each["message"]]
    return [
        Table(("FILE SYSTEM", "PATH", "STATUS", "SIZE", "FREE"), rows),
        *([Table(("ASSOCIATION", "S3", "STATUS"), links)] if links else []),
        *failures,
    ]


def _size(system: Json) -> str:
    return f"{system['capacity_gib']} GiB" if system["capacity_gib"] else "-"


def _free(system: Json) -> str:
    if system["free_gib"] is not None and system["capacity_gib"]:
        return f"{system['free_gib']} GiB ({100 * system['free_gib'] // system['capacity_gib']} %)"
    return "unknown" if system["free_percent"] is None else f"{system['free_percent']:g} %"


def _of_nodes(path: str, states: list[Report]) -> float | None:
    """Return the free space as the latest report of a node has it."""
    disks = (disk for state in reversed(states) for disk in state.fields.get("disks") or ())
    return next((disk.get("free_percent") for disk in disks if disk.get("path") == path), None)


def _of_metric(deployment: Deployment, system: str, now: datetime) -> int | None:
    """Return the free space by CloudWatch, in GiB; None without a recent value."""
    answer = deployment.client("cloudwatch").get_metric_statistics(
        Namespace=LUSTRE_METRICS,
        MetricName=METRIC,
        Dimensions=[{"Name": "FileSystemId", "Value": system}],
        StartTime=now - PERIOD,
        EndTime=now,
        Period=60,
        Statistics=["Sum"],
    )
    latest = max(answer["Datapoints"], key=lambda point: point["Timestamp"], default=None)
    return int(latest["Sum"] // GIB) if latest else None


def _associations(fsx: Any, system: str) -> list[Json]:
    filters = [{"Name": "file-system-id", "Values": [system]}]
    return list(map(_association, listed(fsx, "describe_data_repository_associations", "Associations", Filters=filters)))


def _association(association: Mapping[str, Any]) -> Json:
    return {
        "id": association["AssociationId"],
        "path": association.get("FileSystemPath"),
        "s3": association.get("DataRepositoryPath"),
        "status": association["Lifecycle"],
        "message": (association.get("FailureDetails") or {}).get("Message"),
    }
