"""The cluster files that a schedule deploys, by name, and their desired clusters."""

from typing import Any, NamedTuple

from tests.unit.cluster_resource.world import group, properties, request

Json = dict[str, Any]
CONTROLLER = group("controller", 1)
OTHER_SUBNET = "subnet-0bbbbbbbbbbbbbbb0"
FIXED_NAME = "ml"


def _workers(count: int, instance_type: str = "ml.trn1.32xlarge") -> Json:
    return group("workers", count, instance_type)


FILES: dict[str, Json] = {
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
}


class Wanted(NamedTuple):
    """The desired cluster of a file."""

    counts: dict[str, int]
    tags: dict[str, str]
    subnets: list[str]
    settings: dict[str, str]
    waits_for_nodes: bool
    waits: bool


def wanted(name: str) -> Wanted:
    """Return the desired cluster of the file ``name``."""
    asked = FILES[name]["Request"]
    return Wanted(
        counts={item["InstanceGroupName"]: item["InstanceCount"] for item in asked["InstanceGroups"]},
        tags={tag["Key"]: tag["Value"] for tag in asked.get("Tags", [])},
        subnets=asked["VpcConfig"]["Subnets"],
        settings={key: asked[key] for key in ("NodeRecovery",) if key in asked},
        waits_for_nodes=FILES[name]["Wait"] == "nodes",
        waits=FILES[name]["Wait"] != "none",
    )


def is_replacement(old: str, new: str) -> bool:
    """Return whether an update between two files needs a new cluster."""
    return wanted(old).subnets != wanted(new).subnets or ("named" in old) != ("named" in new)
