"""A cluster as it was described elsewhere: the request, and what the scripts were told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config.errors import ConfigError, Problem
from config.imports.json_file import read_json
from config.request import Request

VPC = "VpcConfig"
GROUPS = "InstanceGroups"

# Members by which a file is something else than a request.
OF_OTHERS = {
    "ClusterStatus": "this is what DescribeCluster says; give CreateCluster's input, or --cluster with the cluster's name",
    "controller_group": "these are provisioning parameters; give CreateCluster's input before them",
}


@dataclass(frozen=True)
class Original:
    """CreateCluster's input and provisioning parameters, with the files that they are from."""

    request: Request
    parameters: Mapping[str, Any] | None = None
    request_file: str = "the request"
    parameters_file: str = "provisioning_parameters.json"
    notes: tuple[str, ...] = field(default=())
    """What else is to be known of it, as comments."""

    @property
    def groups(self) -> list[Request]:
        """The instance groups of the request."""
        found: list[Request] = self.request[GROUPS]
        return found


def read_original(request: Path, parameters: Path | None = None, vpc_config: Path | None = None) -> Original:
    """The cluster that the files describe: ``request`` is CreateCluster's input, or the list of its instance groups alone."""
    made = _with_network(_request(request), request, vpc_config)
    told = _mapping(parameters, "the scripts' provisioning parameters") if parameters else None
    return Original(made, told, str(request), str(parameters or "provisioning_parameters.json"))


def _request(path: Path) -> Request:
    content = read_json(path)
    if isinstance(content, list):  # as `aws sagemaker create-cluster --instance-groups file://...` takes it
        return {GROUPS: content}
    request = _checked(path, content, "CreateCluster's input, or the list of its instance groups")
    for name, message in OF_OTHERS.items():
        if name in request:
            raise ConfigError({str(path): [Problem((name,), request[name], message)]})
    return request


def _with_network(request: Request, path: Path, vpc_config: Path | None) -> Request:
    if vpc_config is None:
        return request
    network = _mapping(vpc_config, "CreateCluster's VpcConfig")
    network = network.get(VPC, network)
    if request.get(VPC, network) != network:
        raise ConfigError({str(path): [Problem((VPC,), request[VPC], f"is not what {vpc_config} says; give it once")]})
    return {**request, VPC: network}


def _mapping(path: Path, what: str) -> dict[str, Any]:
    return _checked(path, read_json(path), what)


def _checked(path: Path, content: object, what: str) -> dict[str, Any]:
    if isinstance(content, dict):
        return content
    raise ConfigError({str(path): [Problem((), content, f"is not {what}; give a file with a JSON object")]})
