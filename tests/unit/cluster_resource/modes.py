"""The two kinds of requests: of `slurm.setup: scripts`, and of `slurm.setup: api` with continuous provisioning."""

from typing import Any

Json = dict[str, Any]
SCRIPTS, API = "scripts", "api"
MODES = (SCRIPTS, API)
CONTINUOUS = {"NodeProvisioningMode": "Continuous"}
NODE_TYPES = {"controller": "Controller", "login": "Login"}


def in_mode(request: Json, mode: str) -> Json:
    """Return a request of `scripts` as the mode writes it; a request in that mode stays."""
    if mode == SCRIPTS:
        return request
    return {**CONTINUOUS, **request, "InstanceGroups": [_configured(group) for group in request["InstanceGroups"]]}


def mode_of_request(request: Json) -> str:
    """Return the mode of a request to create or update a cluster."""
    return API if any("SlurmConfig" in group for group in request.get("InstanceGroups", [])) else SCRIPTS


def properties_in_mode(properties: Json, mode: str) -> Json:
    """Return the resource's properties with their request in the mode."""
    return {**properties, "Request": in_mode(properties["Request"], mode)} if "Request" in properties else properties


def _configured(group: Json) -> Json:
    scripts = {("OnInitComplete" if name == "OnCreate" else name): value for name, value in group["LifeCycleConfig"].items()}
    kind = NODE_TYPES.get(group["InstanceGroupName"], "Compute")
    partitions = {"PartitionNames": ["dev"]} if kind == "Compute" else {}
    return {"SlurmConfig": {"NodeType": kind, **partitions}, **group, "LifeCycleConfig": scripts}
