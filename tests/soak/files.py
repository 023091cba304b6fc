"""The cluster files that a schedule deploys, by name, and their desired clusters."""

from typing import Any, NamedTuple

from tests.unit.cluster_resource.modes import API, properties_in_mode
from tests.unit.cluster_resource.world import group, properties, request

Json = dict[str, Any]
CONTROLLER = group("controller", 1)
OTHER_SUBNET = "subnet-0bbbbbbbbbbbbbbb0"
FIXED_NAME = "ml"


ADOPTED_NAME = "theirs"


def _workers(count: int, instance_type: str = "ml.trn1.32xlarge", **more: int) -> Json:
    return group("workers", count, instance_type, **more)


def _adopted(count: int) -> Json:
    return properties(request(CONTROLLER, _workers(count)), ClusterName=ADOPTED_NAME, Adopt=True)


SCRIPTS_FILES: dict[str, Json] = {
    "four": properties(request(CONTROLLER, _workers(4))),
    "six": properties(request(CONTROLLER, _workers(6))),
    "login": properties(request(CONTROLLER, _workers(4), group("login", 1))),
    "tagged": properties(request(CONTROLLER, _workers(4), Tags=[{"Key": "team", "Value": "a"}])),
    "recovery": properties(request(CONTROLLER, _workers(4), NodeRecovery="None")),
    "moved": properties(request(CONTROLLER, _workers(4), subnet=OTHER_SUBNET)),
    "named": properties(request(CONTROLLER, _workers(4)), ClusterName=FIXED_NAME),
    "named-moved": properties(request(CONTROLLER, _workers(4), subnet=OTHER_SUBNET), ClusterName=FIXED_NAME),
    "retyped": properties(request(CONTROLLER, _workers(4, "ml.g5.48xlarge"))),
    "empty": properties({**request(), "InstanceGroups": []}),
    "early": properties(request(CONTROLLER, _workers(5)), Wait="cluster"),
    "never": properties(request(CONTROLLER, _workers(3)), Wait="none"),
    "least": properties(request(CONTROLLER, _workers(6, MinInstanceCount=3))),
    "hours": properties(request(CONTROLLER, _workers(4)), WaitHours=2),
    "hours-six": properties(request(CONTROLLER, _workers(6)), WaitHours=2),
    "adopted": _adopted(4),
    "adopted-six": _adopted(6),
    "adopted-two": _adopted(2),
    "given": properties(request(CONTROLLER, _workers(4)), ClusterName=ADOPTED_NAME),
}
TWIN = "api-"
FILES = SCRIPTS_FILES | {TWIN + name: properties_in_mode(file, API) for name, file in SCRIPTS_FILES.items()}
"""The same with `slurm.setup: api` and continuous provisioning, each named `api-`."""


class Wanted(NamedTuple):
    """The desired cluster of a file."""

    counts: dict[str, int]
    least: dict[str, int]
    """How many nodes of each group a deployment waits for."""
    tags: dict[str, str]
    subnets: list[str]
    settings: dict[str, str]
    waits_for_nodes: bool
    waits: bool
    hours: int
    adopts: bool
    name: str
    """The fixed name."""
    is_continuous: bool


def wanted(name: str) -> Wanted:
    """Return the desired cluster of the file ``name``."""
    file, asked = FILES[name], FILES[name]["Request"]
    counts = {item["InstanceGroupName"]: item["InstanceCount"] for item in asked["InstanceGroups"]}
    return Wanted(
        counts=counts,
        least=counts | {each: least for each, least in minimums(name).items() if least},
        tags={tag["Key"]: tag["Value"] for tag in asked.get("Tags", [])},
        subnets=asked["VpcConfig"]["Subnets"],
        settings={key: asked[key] for key in ("NodeRecovery",) if key in asked},
        waits_for_nodes=file["Wait"] == "nodes",
        waits=file["Wait"] != "none",
        hours=file["WaitHours"],
        adopts="Adopt" in file,
        name=file.get("ClusterName", ""),
        is_continuous="NodeProvisioningMode" in asked,
    )


def minimums(name: str) -> dict[str, int]:
    """Return the MinInstanceCount of each group of the file ``name``; 0 if all nodes are required."""
    return {item["InstanceGroupName"]: item.get("MinInstanceCount", 0) for item in FILES[name]["Request"]["InstanceGroups"]}


def is_replacement(old: str, new: str) -> bool:
    """Return whether an update between two files needs a new cluster."""
    return wanted(old).subnets != wanted(new).subnets or wanted(old).name != wanted(new).name
