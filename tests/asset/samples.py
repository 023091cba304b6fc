"""Values for every member of a shape of the service model, so that none can be forgotten."""

from typing import Any

from cluster_request.service_model import service_model, shape

SCALARS: dict[str, Any] = {
    "boolean": True,
    "double": 1.5,
    "float": 1.5,
    "integer": 3,
    "long": 3,
    "string": "text",
    "timestamp": 1_700_000_000.0,
}


def sample_of(name: str) -> Any:
    """A value of the shape with all its members; of a union, the first."""
    found = shape(name)
    match found["type"]:
        case "structure":
            members = list(found["members"].items())
            return {member: sample_of(value["shape"]) for member, value in (members[:1] if found.get("union") else members)}
        case "list":
            return [sample_of(found["member"]["shape"])]
        case "map":
            return {sample_of(found["key"]["shape"]): sample_of(found["value"]["shape"])}
    return found["enum"][0] if "enum" in found else SCALARS[found["type"]]


def request_to(operation: str) -> Any:
    """A request with all its fields."""
    return sample_of(service_model()["operations"][operation]["input"]["shape"])


def answer_of(operation: str) -> Any:
    """An answer with all its fields."""
    output = service_model()["operations"][operation].get("output")
    return sample_of(output["shape"]) if output else {}
