"""Kinds of JSON files, to recognize a file that is passed in place of another."""

from collections.abc import Mapping
from dataclasses import dataclass

from cli.import_cluster.json_file import JsonFile
from config.errors import ABSENT, ConfigError, Problem

REQUEST, PARAMETERS, NETWORK = "request", "parameters", "network"


@dataclass(frozen=True)
class Kind:
    """A kind of file: a member that only it has, its name, and the fix."""

    name: str
    member: str
    what: str
    fix: str


# A file with several of these members is of the first kind.
KINDS = (
    Kind(
        "description",
        "ClusterStatus",
        "this is the output of DescribeCluster",
        "pass CreateCluster's input, or --from-cluster with the cluster's name",
    ),
    Kind("list", "ClusterSummaries", "this is the output of ListClusters", "pass --from-cluster with a name"),
    Kind(
        "resource_config",
        "ClusterConfig",
        "this is the resource_config.json that HyperPod writes on nodes",
        "pass CreateCluster's input, or --from-cluster with the cluster's name",
    ),
    Kind(
        "template",
        "Resources",
        "this is a CloudFormation template",
        "pass CreateCluster's input, or --from-cluster with its name",
    ),
    Kind(
        "resource",
        "Properties",
        "this is a CloudFormation resource",
        "pass its Properties as CreateCluster's input, with values instead of functions",
    ),
    Kind("group", "InstanceGroupName", "this is one instance group", "put it in a list"),
    *(
        Kind(PARAMETERS, member, "these are provisioning parameters", "pass them second, after CreateCluster's input")
        for member in ("controller_group", "worker_groups", "workload_manager")
    ),
    *(
        Kind(REQUEST, member, "this is CreateCluster's input", "pass it first, and provisioning_parameters.json second")
        for member in ("InstanceGroups", "ClusterName")
    ),
    *(
        Kind(NETWORK, member, "this is a VpcConfig", "pass it last, after CreateCluster's input")
        for member in ("VpcConfig", "Subnets", "SecurityGroupIds")
    ),
)

# Lists of objects with these members.
LISTS = (
    Kind("stack_parameters", "ParameterKey", "these are parameters of a CloudFormation stack", "pass CreateCluster's input"),
)


def kind_of(content: object) -> Kind | None:
    """Return the kind of the content, if it is known."""
    if isinstance(content, list) and any(isinstance(each, dict) and "InstanceGroupName" in each for each in content):
        return Kind(REQUEST, "", "this is a list of instance groups", "pass it first, and provisioning_parameters.json second")
    if isinstance(content, list) and content and isinstance(content[0], dict):
        return next((kind for kind in LISTS if kind.member in content[0]), None)
    if not isinstance(content, Mapping):
        return None
    return next((kind for kind in KINDS if kind.member in content), None)


def demand(file: JsonFile, name: str) -> None:
    """Refuse a file that looks like a different kind."""
    kind = kind_of(file.content)
    if kind is None or kind.name == name:
        return
    path, value = ((kind.member,), file.content[kind.member]) if isinstance(file.content, dict) else ((), ABSENT)
    problem = Problem(path, value, f"{kind.what}; {kind.fix}", place=file.place(path))
    raise ConfigError({file.name: [problem]})
