"""The original of an import: the request, and the parameters of its scripts; other kinds of files are recognized."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

from cli.import_cluster.json_file import JsonFile, read_json
from cluster_request.request import Request
from config.errors import ABSENT, ConfigError, Problem

VPC = "VpcConfig"
GROUPS = "InstanceGroups"
REQUEST, PARAMETERS, NETWORK = "request", "parameters", "network"


@dataclass(frozen=True)
class Original:
    """CreateCluster's input and provisioning parameters, with the files that they are from."""

    request: Request
    parameters: Mapping[str, Any] | None = None
    request_file: str = "the request"
    parameters_file: str = "provisioning_parameters.json"
    has_moved: bool = False
    """Whether its parameters became a SlurmConfig in each group: `slurm.setup: api`."""
    notes: tuple[str, ...] = field(default=())
    """What else is to be known of it, as comments."""

    files: Mapping[str, JsonFile] = field(default_factory=dict, repr=False)
    """The files as they were read, by their names; places are by the paths of the request."""
    network_file: str = ""
    """The separate file of the network, if there is one."""

    @property
    def groups(self) -> list[Request]:
        """The instance groups of the request."""
        found: list[Request] = self.request[GROUPS]
        return found

    def placed(self, error: ConfigError) -> ConfigError:
        """Return the same problems with their files, lines and columns."""
        found: dict[str, list[Problem]] = {}
        for name, problems in error.problems.items():
            for problem in problems:
                is_network = name == self.request_file and problem.path[:1] == (VPC,)
                source = self.network_file if is_network and self.network_file else name
                file = self.files.get(source)
                placed = replace(problem, place=file.place(problem.path)) if file and problem.place is None else problem
                found.setdefault(source, []).append(placed)
        return ConfigError(found)


def without(members: Mapping[str, Any], *names: str) -> Request:
    """Return a structure without these members."""
    return {name: value for name, value in members.items() if name not in names}


def eks_arn_of(request: Request) -> str | None:
    """Return the ARN of the EKS cluster that orchestrates; None with Slurm."""
    arn = ((request.get("Orchestrator") or {}).get("Eks") or {}).get("ClusterArn")
    return str(arn) if arn else None


def read_original(request: FilePath, parameters: FilePath | None = None, vpc_config: FilePath | None = None) -> Original:
    """Return the cluster that the files describe; ``request`` is CreateCluster's input, or only its list of instance groups."""
    first = read_json(request)
    second, third = (read_json(each) if each else None for each in (parameters, vpc_config))
    if second and not third and (kind := kind_of(second.content)) and kind.name == NETWORK:
        second, third = None, second
    made = _with_network(_request(first), first, third)
    content = _mapping(second, PARAMETERS, "the scripts' provisioning parameters") if second else None
    name = second.name if second else "provisioning_parameters.json"
    whole = _below(first, GROUPS) if isinstance(first.content, list) else first
    network = third and (third if (VPC,) in third.places else _below(third, VPC))
    files = {each.name: each for each in (whole, second, network) if each}
    return Original(made, content, first.name, name, files=files, network_file=network.name if network else "")


def _request(file: JsonFile) -> Request:
    demand(file, REQUEST)
    if isinstance(file.content, list):  # the form of `aws sagemaker create-cluster --instance-groups file://...`
        return {GROUPS: file.content}
    return _mapping(file, REQUEST, "CreateCluster's input, or the list of its instance groups")


def _below(file: JsonFile, member: str) -> JsonFile:
    """Return the file with paths that begin with this member of the request."""
    return replace(file, places={(): file.places[()], **{(member, *path): place for path, place in file.places.items()}})


def _with_network(request: Request, file: JsonFile, network_file: JsonFile | None) -> Request:
    if network_file is None:
        return request
    network = _mapping(network_file, NETWORK, "CreateCluster's VpcConfig")
    network = network.get(VPC, network)
    if request.get(VPC, network) != network:
        problem = Problem((VPC,), request[VPC], f"differs from {network_file.name}", "pass it once", place=file.place((VPC,)))
        raise ConfigError({file.name: [problem]})
    return {**request, VPC: network}


def _mapping(file: JsonFile, kind: str, what: str) -> dict[str, Any]:
    demand(file, kind)
    if isinstance(file.content, dict):
        return file.content
    raise ConfigError(
        {file.name: [Problem((), file.content, f"is not {what}", "pass a file with a JSON object", place=file.place(()))]}
    )


@dataclass(frozen=True)
class Kind:
    """A kind of file: members that only it has, its name, and the fix."""

    name: str
    members: tuple[str, ...]
    what: str
    fix: str


OTHER = "other"
FIRST = "pass it first, and provisioning_parameters.json second"
BY_NAME = "pass CreateCluster's input, or --from-cluster with the cluster's name"
# A file with members of several kinds is of the first.
KINDS = (
    Kind(OTHER, ("ClusterStatus",), "this is the output of DescribeCluster", BY_NAME),
    Kind(OTHER, ("ClusterSummaries",), "this is the output of ListClusters", "pass --from-cluster with a name"),
    Kind(OTHER, ("ClusterConfig",), "this is the resource_config.json that HyperPod writes on nodes", BY_NAME),
    Kind(
        OTHER,
        ("Resources",),
        "this is a CloudFormation template",
        "pass CreateCluster's input, or --from-cluster with its name",
    ),
    Kind(
        OTHER,
        ("Properties",),
        "this is a CloudFormation resource",
        "pass its Properties as CreateCluster's input, with values instead of functions",
    ),
    Kind(OTHER, ("InstanceGroupName",), "this is one instance group", "put it in a list"),
    Kind(
        PARAMETERS,
        ("controller_group", "worker_groups", "workload_manager"),
        "these are provisioning parameters",
        "pass them second, after CreateCluster's input",
    ),
    Kind(REQUEST, ("InstanceGroups", "ClusterName"), "this is CreateCluster's input", FIRST),
    Kind(
        NETWORK,
        ("VpcConfig", "Subnets", "SecurityGroupIds"),
        "this is a VpcConfig",
        "pass it last, after CreateCluster's input",
    ),
)
GROUP_LIST = Kind(REQUEST, (), "this is a list of instance groups", FIRST)
STACK_PARAMETERS = Kind(OTHER, (), "these are parameters of a CloudFormation stack", "pass CreateCluster's input")


def kind_of(content: object) -> Kind | None:
    """Return the kind of the content, if it is known."""
    if isinstance(content, dict):
        return next((kind for kind in KINDS if content.keys() & kind.members), None)
    entries = [each for each in content if isinstance(each, dict)] if isinstance(content, list) else []
    if any("InstanceGroupName" in each for each in entries):
        return GROUP_LIST
    return STACK_PARAMETERS if any("ParameterKey" in each for each in entries) else None


def demand(file: JsonFile, name: str) -> None:
    """Refuse a file that looks like a different kind."""
    kind = kind_of(file.content)
    if kind is None or kind.name == name:
        return
    content = file.content if isinstance(file.content, dict) else {}
    path = tuple(member for member in kind.members if member in content)[:1]
    value = content[path[0]] if path else ABSENT
    problem = Problem(path, value, kind.what, kind.fix, place=file.place(path))
    raise ConfigError({file.name: [problem]})
