"""The original of an import: the request, and the parameters of its scripts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

from cli.import_cluster.json_file import JsonFile, read_json
from cli.import_cluster.kinds import NETWORK, PARAMETERS, REQUEST, demand, kind_of
from cluster_request.request import Request
from config.errors import ConfigError, Problem

VPC = "VpcConfig"
GROUPS = "InstanceGroups"


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
                found.setdefault(source, []).append(self._placed(source, problem))
        return ConfigError(found)

    def _placed(self, name: str, problem: Problem) -> Problem:
        file = self.files.get(name)
        return replace(problem, place=file.place(problem.path)) if file and problem.place is None else problem


def read_original(request: FilePath, parameters: FilePath | None = None, vpc_config: FilePath | None = None) -> Original:
    """Return the cluster that the files describe; ``request`` is CreateCluster's input, or only its list of instance groups."""
    first = read_json(request)
    second, third = (read_json(each) if each else None for each in (parameters, vpc_config))
    if second and not third and _is_network(second):
        second, third = None, second
    made = _with_network(_request(first), first, third)
    content = _mapping(second, PARAMETERS, "the scripts' provisioning parameters") if second else None
    name = second.name if second else "provisioning_parameters.json"
    whole = _below(first, GROUPS) if isinstance(first.content, list) else first
    network = third and (third if (VPC,) in third.places else _below(third, VPC))
    files = {each.name: each for each in (whole, second, network) if each}
    return Original(made, content, first.name, name, files=files, network_file=network.name if network else "")


def _is_network(file: JsonFile) -> bool:
    kind = kind_of(file.content)
    return kind is not None and kind.name == NETWORK


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
        problem = Problem((VPC,), request[VPC], f"differs from {network_file.name}; pass it once", place=file.place((VPC,)))
        raise ConfigError({file.name: [problem]})
    return {**request, VPC: network}


def _mapping(file: JsonFile, kind: str, what: str) -> dict[str, Any]:
    demand(file, kind)
    if isinstance(file.content, dict):
        return file.content
    raise ConfigError(
        {file.name: [Problem((), file.content, f"is not {what}; pass a file with a JSON object", place=file.place(()))]}
    )
