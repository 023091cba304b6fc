"""`./hpod retained CLUSTER`: resources kept by cdk destroy, as YAML that lets the next deployment reuse them."""

from typing import Any

import yaml
from botocore.exceptions import ClientError

from cli.deployment import Deployment
from cli.leftovers import data_buckets, described, eks_cluster, file_systems, foreign, has_internet, network
from cli.result import Json, Result, Verbatim
from config.model import ClusterConfig
from config.network import InternetAccess as Access
from config.section import Section

_OLDER = "# older {what} of cluster {name}, with data of earlier deployments; delete those that you do not need:"

AFTER_CREATION = ("endpoint_access", "public_access_cidrs", "admins", "addons", "teams", "scheduling", "autoscaling")
"""Fields of `eks` that an existing EKS cluster can have."""


def retained(deployment: Deployment) -> Result:
    """Return what a destroy kept, and what others put into the VPC."""
    result = _kept(deployment)
    try:
        others = [each.sentence for each in foreign(deployment.client("ec2"), deployment.config.name)]
        lines = ["# not created by the deployment; to delete the VPC, delete them first:", *others] if others else []
    except ClientError as error:
        others, lines = None, ["# cannot list what others put into the VPC:", str(error)]
    text = (Verbatim("\n#   ".join(lines)),) if lines else ()
    return Result({**(result.data or {}), "foreign_resources": others}, (*result.text, *text))


def _kept(deployment: Deployment) -> Result:
    """Return whole sections for the file of a destroyed cluster, and resources of earlier deployments as comments."""
    config = deployment.config
    systems = file_systems(deployment.client("fsx"), config.name)
    if stacks := deployment.read_stacks():
        used = {value for stack in stacks for value in stack.outputs.values()}
        return _beside(config.name, [system for system in systems if system["FileSystemId"] not in used], used)
    buckets = data_buckets(deployment.client("s3"), config.name)
    chosen = _chosen(systems, config)
    bucket = _bucket(buckets, config)
    eks = eks_cluster(deployment.client("eks"), deployment.eks_name, config.name) if config.creates_eks_cluster else None
    control_plane = (eks or {}).get("resourcesVpcConfig", {}).get("subnetIds", ())
    kept_network = _network(deployment, network(deployment.client("ec2"), config.name, chosen, control_plane))
    sections = {
        "network": kept_network,
        "storage": _storage(config, chosen, bucket),
        "eks": _existing_eks(config, eks) if eks else _new_eks(config) if kept_network else {},
    }
    found = {section: fields for section, fields in sections.items() if fields}
    others = [system for system in systems if system is not chosen]
    return _result(config.name, found, others, [each for each in buckets if each != bucket])


def _existing_eks(config: ClusterConfig, found: Json) -> Json:
    """Return the section without the fields about the creation of the EKS cluster."""
    written = _written(config.eks) if config.eks else {}
    return {"existing": {"name": found["name"]}, **{key: value for key, value in written.items() if key in AFTER_CREATION}}


def _new_eks(config: ClusterConfig) -> Json:
    """Return the section with the ranges of the control plane's subnets, which are free since the destroy deleted them."""
    if config.eks is None or not config.creates_eks_cluster or config.eks.control_plane_subnet_ids:
        return {}
    return {**_written(config.eks), "control_plane_cidrs": [str(cidr) for cidr in config.eks.control_plane_cidrs]}


def _beside(name: str, systems: list[Json], used: set[str]) -> Result:
    """Return what earlier deployments left beside a cluster that is deployed."""
    is_known = any(each.startswith("fs-") for each in used)  # until the storage stack is complete, its file system is not
    if systems and is_known:
        return _result(name, {}, systems, [])
    message = f"# cluster {name} is deployed; the outputs ...AfterDestroy list what cdk destroy would keep"
    return Result({"sections": {}, "older_file_systems": [], "older_data_buckets": []}, (Verbatim(message),))


def _result(name: str, sections: Json, systems: list[Json], buckets: list[str]) -> Result:
    parts = [
        _sections(name, sections),
        _list("file systems", name, [described(system) for system in systems]),
        _list("data buckets", name, buckets),
    ]
    text = "\n".join(filter(None, parts)) or f"# cdk destroy kept nothing of cluster {name}"
    ids = [system["FileSystemId"] for system in systems]
    return Result({"sections": sections, "older_file_systems": ids, "older_data_buckets": buckets}, (Verbatim(text),))


def _chosen(systems: list[dict[str, Any]], config: ClusterConfig) -> dict[str, Any] | None:
    """Return the file system to reuse: the one in the file, else the newest."""
    fixed = config.storage.existing
    if fixed is None:
        return next(iter(systems), None)
    return next((system for system in systems if system["FileSystemId"] == fixed.file_system_id), None)


def _bucket(buckets: list[str], config: ClusterConfig) -> str | None:
    """Return the data bucket to reuse: the one in the file, else the newest."""
    fixed = config.storage.data_bucket.existing
    return next((each for each in buckets if fixed in (None, each)), None)


def _network(deployment: Deployment, found: dict[str, Any]) -> dict[str, Any]:
    config = deployment.config.network
    fixed = config.existing
    if not found and fixed and fixed.internet_access is Access.CREATE and has_internet(deployment.client("ec2"), fixed.vpc_id):
        found = {**_written(fixed), "internet_access": Access.EXISTING.value}  # created for it, and retained
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
    """Return the section with only the fields that the file sets."""
    return section.model_dump(mode="json", exclude_unset=True)


def _sections(name: str, sections: dict[str, Any]) -> str:
    if not sections:
        return ""
    these = " and ".join([", ".join(list(sections)[:-1]), list(sections)[-1]] if len(sections) > 1 else sections)
    head = f"# kept from cluster {name}: in its file, replace the whole of {these} with this\n"
    text: str = yaml.safe_dump(sections, sort_keys=False, default_flow_style=False)
    return head + text.rstrip()


def _list(what: str, name: str, lines: list[str]) -> str:
    return "\n".join([_OLDER.format(what=what, name=name), *(f"#   {line}" for line in lines)]) if lines else ""
