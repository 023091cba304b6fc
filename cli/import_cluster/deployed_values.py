"""Members of a request whose values the deployment decides, and placeholders, which the user replaces."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeGuard

from cli.group_members import KINDS
from cli.import_cluster.choices import Keep
from cli.import_cluster.instance_storage import LUSTRE, STORAGE, Mounts
from cli.import_cluster.original import GROUPS, VPC, eks_arn_of, without
from cluster_request.request import Request, RequestValues
from config.errors import Path, Problem

LIFE_CYCLE, SOURCE, ROLE = "LifeCycleConfig", "SourceS3Uri", "ExecutionRole"
SAMPLES = RequestValues(
    execution_role_arn="arn:aws:iam::123456789012:role/made-by-the-deployment",
    source_s3_uri="s3://made-by-the-deployment/lifecycle/",
    subnet_ids=["subnet-0123456789abcdef0"],
    security_group_ids=["sg-0123456789abcdef0"],
    eks_cluster_arn="arn:aws:eks:us-west-2:123456789012:cluster/made-by-the-deployment",
)
NEW_FILE_SYSTEM = ("fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "abcdefgh")
# A database's name may contain `$` inside, so a variable without braces begins a word, in upper case.
PLACEHOLDER = re.compile(r"\$\{\w+\}|(?<![\w$])\$[A-Z_][A-Z0-9_]*|<[^<>\n]+>")


def with_values(request: Request, keep: Keep, values: RequestValues = SAMPLES) -> Request:
    """Return the request with ``values`` where the deployment decides; values of a wrong type stay, to be reported."""
    made = dict(request)
    if keep is Keep.NOTHING and _names_resources(request.get(VPC, {})):
        made[VPC] = {"SecurityGroupIds": list(values.security_group_ids), "Subnets": list(values.subnet_ids)}
    match request.get("Orchestrator"):
        case {"Eks": {"ClusterArn": str(arn)} as eks} if keep is Keep.NOTHING and PLACEHOLDER.fullmatch(arn):
            made["Orchestrator"] = {"Eks": {**eks, "ClusterArn": values.eks_cluster_arn}}
    if keep is Keep.NOTHING:
        for kind in KINDS:
            if isinstance(some := request.get(kind), list):
                made[kind] = [without(each, "OverrideVpcConfig") if repeats_network(each, request) else each for each in some]
    groups = made.get(GROUPS)
    if keep is not Keep.EVERYTHING and isinstance(groups, list):
        made[GROUPS] = [_group(group, values) for group in groups]
    return made


def repeats_network(group: Any, request: Request) -> bool:
    """Return whether the group's own subnets and security groups are all among the cluster's: a new network has one of each."""
    match group, request:
        case {"OverrideVpcConfig": own}, {"VpcConfig": shared} if _names_resources(own) and _names_resources(shared):
            return bool(own) and all(ids and set(ids) <= set(shared.get(kind, ())) for kind, ids in own.items())
    return False


def _names_resources(network: object) -> TypeGuard[dict[str, list[str]]]:
    """Return whether the value has the form of a VpcConfig: lists of ids."""
    if not isinstance(network, dict) or network.keys() - {"SecurityGroupIds", "Subnets"}:
        return False
    return all(isinstance(ids, list) and all(isinstance(each, str) for each in ids) for ids in network.values())


def _group(group: Any, values: RequestValues) -> Any:
    if not isinstance(group, dict):
        return group
    made = {**group, **({ROLE: values.execution_role_arn} if isinstance(group.get(ROLE), str) else {})}
    if isinstance(group.get(LIFE_CYCLE), dict) and isinstance(group[LIFE_CYCLE].get(SOURCE), str):
        made[LIFE_CYCLE] = {**group[LIFE_CYCLE], SOURCE: values.source_s3_uri}
    if values.file_system_dns_name is not None:
        made[STORAGE] = [_mounted(entry, values) for entry in group[STORAGE]]
    return made


def _mounted(entry: Request, values: RequestValues) -> Request:
    if LUSTRE not in entry:
        return entry
    names = {"DnsName": values.file_system_dns_name, "MountName": values.file_system_mount_name}
    return {LUSTRE: {**entry[LUSTRE], **names}}


def values_of(request: Request, keep: Keep, mounts: Mounts | None) -> RequestValues:
    """Return the values of the new file's deployment for a valid request; those of network and file system, if kept."""
    lustre, network = mounts.lustre if mounts else None, request.get(VPC)
    is_kept = keep is not Keep.NOTHING
    dns_name, mount_name = (lustre["DnsName"], lustre["MountName"]) if lustre and is_kept else NEW_FILE_SYSTEM
    values = replace(
        SAMPLES,
        file_system_dns_name=dns_name if lustre else None,
        file_system_mount_name=mount_name if lustre else None,
        eks_cluster_arn=eks_arn_of(request),
    )
    if not is_kept or network is None:
        return values
    return replace(values, subnet_ids=network["Subnets"], security_group_ids=network["SecurityGroupIds"][:1])


def placeholder_problems(request: object) -> Iterator[Problem]:
    """Yield a problem for each value with a placeholder."""
    for path, value in texts(request):
        if found := PLACEHOLDER.search(value):
            yield Problem(path, value, f"{found[0]} is a placeholder", "replace it with its value")


def texts(value: object, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield each text with its path."""
    if isinstance(value, str):
        yield path, value
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        yield from texts(below, (*path, key))
