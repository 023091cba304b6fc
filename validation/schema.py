"""Write schema/cluster.schema.json for editors: `python -m validation.schema`.

Draft 7 of JSON Schema has the best editor support. The schema covers single fields; the rules cover their combinations.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cluster_request.request import RESERVED_CLUSTER_MEMBERS, RESERVED_GROUP_MEMBERS
from cluster_request.request_check import EXTENSIBLE_ENUMS
from cluster_request.service_model import input_shape, shape
from config.errors import Level
from config.instance_types import TYPE_NAME
from config.model import file_schema
from config.zones import regions
from validation.catalog import catalog

Schema = dict[str, Any]

FILE = Path(__file__).resolve().parent.parent / "schema" / "cluster.schema.json"
DRAFT = "http://json-schema.org/draft-07/schema#"

# Keywords that editors do not use.
_UNUSED = ("title", "change", "api", "format")
_CIDR = r"^([0-9]{1,3}\.){3}[0-9]{1,3}/[0-9]{1,2}$"
# The schema's keyword for each limit of a shape, by the shape's type.
_BOUNDS = {
    "string": {"min": "minLength", "max": "maxLength"},
    "list": {"min": "minItems", "max": "maxItems"},
    "map": {"min": "minProperties", "max": "maxProperties"},
    **{kind: {"min": "minimum", "max": "maximum"} for kind in ("integer", "long", "float", "double")},
}
# Groups need a role only with Slurm.
_ROLES = {
    "if": {"properties": {"eks": {"type": "object"}}, "required": ["eks"]},
    "else": {"properties": {"instance_groups": {"items": {"required": ["role"]}}}},
}
_TYPES = {"string": "string", "blob": "string", "boolean": "boolean", "integer": "integer", "long": "integer"}


def cluster_schema() -> Schema:
    """Return the JSON schema of a cluster file."""
    whole = file_schema("#/definitions/{model}")
    definitions = {name: _of_model(each) for name, each in whole.pop("$defs").items()}
    root = _of_model(whole)
    del root["properties"]["name"]
    root["required"].remove("name")
    root["properties"]["region"]["anyOf"][0]["enum"] = list(regions())
    group = definitions["InstanceGroup"]["properties"]
    group["instance_type"] |= _choice("ClusterInstanceType")
    warnings = [rule for rule, entry in catalog().items() if entry.level is Level.WARNING]
    definitions["Suppression"]["properties"]["rule"]["enum"] = warnings
    used: dict[str, Schema] = {}
    group["overrides"] |= _overrides("ClusterInstanceGroupSpecification", RESERVED_GROUP_MEMBERS, used)
    root["properties"]["overrides"] |= _overrides(input_shape("CreateCluster"), RESERVED_CLUSTER_MEMBERS, used)
    return {
        "$schema": DRAFT,
        "title": "A cluster of hyperpod-cdk",
        **root,
        **_ROLES,
        "definitions": dict(sorted((definitions | used).items())),
    }


def render() -> str:
    """Return the file's content."""
    return json.dumps(cluster_schema(), indent=1, ensure_ascii=False) + "\n"


def _of_model(value: Any) -> Any:
    """Convert pydantic's schema to draft 7, where keywords beside `$ref` are ignored."""
    if isinstance(value, list):
        return [_of_model(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _of_keyword(key, each) for key, each in value.items() if key not in _UNUSED or not isinstance(each, str)}
    if value.get("format") == "ipv4network":
        kept["pattern"] = _CIDR
    if isinstance(value.get("change"), str):
        kept["description"] = f"{value['description']}. On change: {value['change']}."
    if isinstance(kept.get("default"), dict) and kept["default"]:  # the section's fields have their own defaults
        del kept["default"]
    if "$ref" in kept and len(kept) > 1:
        kept["allOf"] = [{"$ref": kept.pop("$ref")}]
    return kept


def _of_keyword(keyword: str, value: Any) -> Any:
    """Convert a keyword's value; the keys of `properties` are names of fields, such as `default`."""
    return {name: _of_model(each) for name, each in value.items()} if keyword == "properties" else _of_model(value)


def _overrides(name: str, left_out: Mapping[str, str], used: dict[str, Schema]) -> Schema:
    """Return the members of an API structure except those with a field; add the referenced shapes to ``used``."""
    members = {key: member["shape"] for key, member in shape(name)["members"].items() if key not in left_out}
    # null removes a member from the request
    properties = {key: {"anyOf": [_reference(each, used), {"type": "null"}]} for key, each in members.items()}
    return {"additionalProperties": False, "properties": properties}


def _reference(name: str, used: dict[str, Schema]) -> Schema:
    key = f"api.{name}"
    if key not in used:
        used[key] = {}  # ends the recursion of a shape that contains itself
        used[key] = dict(_of_shape(name, used))
    return {"$ref": f"#/definitions/{key}"}


def _of_shape(name: str, used: dict[str, Schema]) -> Iterator[tuple[str, Any]]:
    """Yield the schema of an API shape, without required members, which the deployment may add."""
    model = shape(name)
    match model["type"]:
        case "structure":
            yield "type", "object"
            yield from _overrides(name, {}, used).items()
        case "list":
            yield from (("type", "array"), ("items", _reference(model["member"]["shape"], used)))
        case "map":
            yield from (("type", "object"), ("additionalProperties", _reference(model["value"]["shape"], used)))
        case "timestamp":
            yield "type", ["string", "number"]
        case kind:
            yield "type", _TYPES.get(kind, "number")
    if "enum" in model:
        yield from _choice(name).items()
    if "pattern" in model and "\\p" not in model["pattern"]:  # few editors support Unicode classes
        yield "pattern", f"^(?:{model['pattern']})$"
    bounds = _BOUNDS.get(model["type"], {})
    yield from ((word, model[bound]) for bound, word in bounds.items() if bound in model)


def _choice(name: str) -> Schema:
    """Return the choices of a shape, plus a pattern for choices that the service may add."""
    choices = {"enum": shape(name)["enum"]}
    return {"anyOf": [choices, {"pattern": f"^{TYPE_NAME}$"}]} if name in EXTENSIBLE_ENUMS else choices


if __name__ == "__main__":
    print(render(), end="")  # noqa: T201  its output is the file
