"""The only place that imports local_aws.kubernetes, which uses this package for its builds; so it is imported by name."""

from importlib import import_module
from pathlib import Path
from typing import Any

from local_aws.nodes.specs import NodesError


def module(name: str) -> Any:
    """Return a module of local_aws.kubernetes."""
    return import_module(f"local_aws.kubernetes.{name}")


def api_server_address() -> str:
    """Return the address of the API server in a cluster's network."""
    address: str = module("commands").API_SERVICE
    return address


def kubelet() -> Path | None:
    """Return the folder of the kubelet's program; None if it is not built."""
    programs = module("programs.store")
    found: Path | None = programs.find(programs.NODE)
    return found


def build_kubelet(report: Any) -> Path:
    """Return the folder of the kubelet's program; build it if needed."""
    try:
        built: Path = module("programs.build").build(module("programs.store").NODE, report)
    except module("errors").KubernetesError as error:
        raise NodesError(str(error)) from error
    return built
