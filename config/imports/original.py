"""A cluster as it was described elsewhere: the request, and what the scripts were told."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

from config.errors import ABSENT, ConfigError, Problem
from config.imports.json_file import JsonFile, read_json
from config.imports.kinds import NETWORK, PARAMETERS, REQUEST, demand, kind_of
from config.request import Request

VPC = "VpcConfig"
GROUPS = "InstanceGroups"


@dataclass(frozen=True)
class Original:
    """CreateCluster's input and provisioning parameters, with the files that they are from."""

    request: Request
    parameters: Mapping[str, Any] | None = None
    request_file: str = "the request"
    parameters_file: str = "provisioning_parameters.json"
    notes: tuple[str, ...] = field(default=())
    """What else is to be known of it, as comments."""

    files: Mapping[str, JsonFile] = field(default_factory=dict, repr=False)
    """The files as they were read, by their names."""

    @property
    def groups(self) -> list[Request]:
        """The instance groups of the request."""
        found: list[Request] = self.request[GROUPS]
        return found

    def placed(self, error: ConfigError) -> ConfigError:
        """The same problems with the lines and columns of the files at which they are."""
        return ConfigError({name: [self._placed(name, each) for each in found] for name, found in error.problems.items()})

    def _placed(self, name: str, problem: Problem) -> Problem:
        file = self.files.get(name)
        # The network can be of a file of its own: what the request's does not have at its top has no place in that.
        is_there = file is not None and (problem.value is ABSENT or problem.path[:1] in file.places)
        return replace(problem, place=file.place(problem.path)) if file and is_there and problem.place is None else problem


def read_original(request: FilePath, parameters: FilePath | None = None, vpc_config: FilePath | None = None) -> Original:
    """The cluster that the files describe: ``request`` is CreateCluster's input, or the list of its instance groups alone."""
    first = read_json(request)
    second, third = (read_json(each) if each else None for each in (parameters, vpc_config))
    if second and not third and _is_network(second):
        second, third = None, second
    made = _with_network(_request(first), first, third)
    told = _mapping(second, PARAMETERS, "the scripts' provisioning parameters") if second else None
    name = second.name if second else "provisioning_parameters.json"
    return Original(made, told, first.name, name, files={each.name: each for each in (_as_request(first), second) if each})


def _is_network(file: JsonFile) -> bool:
    kind = kind_of(file.content)
    return kind is not None and kind.name == NETWORK


def _request(file: JsonFile) -> Request:
    demand(file, REQUEST)
    if isinstance(file.content, list):  # as `aws sagemaker create-cluster --instance-groups file://...` takes it
        return {GROUPS: file.content}
    return _mapping(file, REQUEST, "CreateCluster's input, or the list of its instance groups")


def _as_request(file: JsonFile) -> JsonFile:
    """The file with its places by the request's paths, which begin before a list of groups alone."""
    if not isinstance(file.content, list):
        return file
    return replace(file, places={(): file.places[()], **{(GROUPS, *path): place for path, place in file.places.items()}})


def _with_network(request: Request, file: JsonFile, network_file: JsonFile | None) -> Request:
    if network_file is None:
        return request
    network = _mapping(network_file, NETWORK, "CreateCluster's VpcConfig")
    network = network.get(VPC, network)
    if request.get(VPC, network) != network:
        problem = Problem((VPC,), request[VPC], f"is not what {network_file.name} says; give it once", place=file.place((VPC,)))
        raise ConfigError({file.name: [problem]})
    return {**request, VPC: network}


def _mapping(file: JsonFile, kind: str, what: str) -> dict[str, Any]:
    demand(file, kind)
    if isinstance(file.content, dict):
        return file.content
    raise ConfigError({file.name: [Problem((), file.content, f"is not {what}; give a file with a JSON object")]})
