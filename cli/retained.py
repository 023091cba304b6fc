"""`./hpod retained CLUSTER`: what a destroy left, as the sections that let the next deployment use it."""

from typing import Any

import yaml

from cli.deployment import Deployment
from cli.errors import OpsError
from cli.leftovers import data_buckets, described, file_systems, has_internet, network
from config.model import ClusterConfig
from config.network import InternetAccess as Access
from config.section import Section

_FURTHER = "# further {what} of cluster {name}, with data of earlier deployments; delete each that nobody needs:"


def retained(deployment: Deployment) -> str:
    """What is left of a destroyed cluster, as whole sections for its file, and what is left of earlier ones, as comments."""
    config = deployment.config
    systems = file_systems(deployment.client("fsx"), config.name)
    if stacks := deployment.stacks():
        used = {value for stack in stacks for value in stack.outputs.values()}
        return _beside(config.name, [system for system in systems if system["FileSystemId"] not in used], used)
    buckets = data_buckets(deployment.client("s3"), config.name)
    chosen = _chosen(systems, config)
    bucket = _bucket(buckets, config)
    sections = {
        "network": _network(deployment, network(deployment.client("ec2"), config.name, chosen)),
        "storage": _storage(config, chosen, bucket),
    }
    parts = [
        _sections(config.name, {section: fields for section, fields in sections.items() if fields}),
        _list("file systems", config.name, [described(system) for system in systems if system is not chosen]),
        _list("data buckets", config.name, [each for each in buckets if each != bucket]),
    ]
    return "\n".join(part for part in parts if part) or f"nothing of cluster {config.name!r} is left"


def _beside(name: str, systems: list[dict[str, Any]], used: set[str]) -> str:
    """What earlier deployments left of a cluster that is deployed."""
    whole = any(each.startswith("fs-") for each in used)  # while the storage stack is made, its file system is not known
    if not systems or not whole:
        raise OpsError(f"cluster {name!r} is deployed: nothing is left over; the outputs ...AfterDestroy say what would be")
    return _list("file systems", name, [described(system) for system in systems])


def _chosen(systems: list[dict[str, Any]], config: ClusterConfig) -> dict[str, Any] | None:
    """The file system to go on with: the one that the file names, else the newest."""
    fixed = config.storage.existing
    if fixed is None:
        return next(iter(systems), None)
    return next((system for system in systems if system["FileSystemId"] == fixed.file_system_id), None)


def _bucket(buckets: list[str], config: ClusterConfig) -> str | None:
    """The data bucket to go on with: the one that the file names, else the newest."""
    fixed = config.storage.data_bucket.existing
    return next((each for each in buckets if fixed in (None, each)), None)


def _network(deployment: Deployment, found: dict[str, Any]) -> dict[str, Any]:
    config = deployment.config.network
    fixed = config.existing
    if not found and fixed and fixed.internet_access is Access.CREATE and has_internet(deployment.client("ec2"), fixed.vpc_id):
        found = {**_written(fixed), "internet_access": Access.EXISTING.value}  # made for it, and retained
    return {**_written(config), "existing": found} if found else {}


def _storage(config: ClusterConfig, file_system: dict[str, Any] | None, bucket: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if file_system:
        mount_name = file_system["LustreConfiguration"]["MountName"]
        found["existing"] = {"file_system_id": file_system["FileSystemId"], "mount_name": mount_name}
    if bucket:
        found["data_bucket"] = {"existing": bucket}
    kept = {key: value for key, value in _written(config.storage).items() if not (key == "lustre" and file_system)}
    return {**kept, **found} if found else {}


def _written(section: Section) -> dict[str, Any]:
    """The section as the file has it."""
    return section.model_dump(mode="json", exclude_unset=True)


def _sections(name: str, sections: dict[str, Any]) -> str:
    if not sections:
        return ""
    these = " and ".join(sections)
    head = f"# left of cluster {name}: in its file, put this in place of the whole of {these}\n"
    text: str = yaml.safe_dump(sections, sort_keys=False, default_flow_style=False)
    return head + text.rstrip()


def _list(what: str, name: str, lines: list[str]) -> str:
    return "\n".join([_FURTHER.format(what=what, name=name), *(f"#   {line}" for line in lines)]) if lines else ""
