"""AWS's registry schemas, from cfn-lint's wheel: the properties of each type, and which changes replace a resource."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from local_aws.cloudformation.template import Json

# The registry schemas of these older types only mark top-level properties. The others come from CloudFormation's resource
# specification ("Update requires: Replacement"), which the CDK command line also ships.
ALSO_CREATE_ONLY = {
    "AWS::EC2::EIP": ("Domain",),
    "AWS::FSx::FileSystem": (
        "FileSystemTypeVersion",
        "LustreConfiguration/CopyTagsToBackups",
        "LustreConfiguration/DeploymentType",
        "LustreConfiguration/DriveCacheType",
        "LustreConfiguration/ExportPath",
        "LustreConfiguration/ImportPath",
        "LustreConfiguration/ImportedFileChunkSize",
        "LustreConfiguration/PerUnitStorageThroughput",
    ),
}
_FOREIGN_TAGS = {"AWS::FSx::FileSystem": "Tags"}
ANY = ".*"  # what cfn-lint writes for AWS::CloudFormation::CustomResource
Path = tuple[str, ...]
Changed = dict[Path, tuple[Any, Any]]


@dataclass(frozen=True)
class Schema:
    """One resource type's schema."""

    document: Json

    def properties_of(self, node: Json) -> Json | None:
        """Return the properties of an object that ``node`` describes; None if it may have any."""
        node = self.follow(node)
        found = dict(node.get("properties") or {})
        for part in (*node.get("oneOf", ()), *node.get("anyOf", ()), *node.get("allOf", ())):
            found |= self.properties_of(part) or {}
        return found if found and "patternProperties" not in node else None

    def items_of(self, node: Json) -> Json:
        """Return the description of a list's items."""
        items: Json = self.follow(node).get("items", {})
        return items

    def follow(self, node: Json) -> Json:
        """Return the target of a reference within the schema."""
        while "$ref" in node:
            target: Json = self.document
            for step in node["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            node = target
        return node

    def paths(self, kind: str) -> set[Path]:
        """Return the property paths listed under ``kind``, e.g. `readOnlyProperties`."""
        listed = self.document.get(kind) or ()
        return {tuple(path.split("/")[2:]) for path in listed}

    @property
    def tag_property(self) -> str | None:
        """Return the name of the property for tags, if any."""
        tagging = self.document.get("tagging")
        if tagging is None:
            return _FOREIGN_TAGS.get(self.document["typeName"])
        taggable = tagging.get("taggable", True)
        return str(tagging.get("tagProperty", "/properties/Tags")).split("/")[-1] if taggable else None

    @property
    def tags_are_a_map(self) -> bool:
        """Return whether tags are a mapping rather than a list of keys and values."""
        node = self.follow(self.document["properties"].get(self.tag_property or "", {}))
        return node.get("type") == "object" or "patternProperties" in node

    @property
    def takes_system_tags(self) -> bool:
        """Return whether CloudFormation adds its own tags (aws:cloudformation:stack-name and others)."""
        return bool((self.document.get("tagging") or {}).get("cloudFormationSystemTags", True)) and self.tag_property is not None

    def create_only(self) -> set[Path]:
        """Return the paths whose change replaces the resource."""
        further = ALSO_CREATE_ONLY.get(self.document["typeName"], ())
        return self.paths("createOnlyProperties") | {tuple(path.split("/")) for path in further}

    def conditionally_create_only(self) -> set[Path]:
        """Return the paths whose change may replace the resource, or be refused by the service."""
        return self.paths("conditionalCreateOnlyProperties")

    def typed(self, properties: Json) -> Json:
        """Return ``properties`` with each scalar in its schema's type, because templates may write "true" for true."""
        return {name: self._typed(value, (self.document["properties"]).get(name, {})) for name, value in properties.items()}

    def _typed(self, value: Any, node: Json) -> Any:
        node = self.follow(node)
        if isinstance(value, dict):
            known = self.properties_of(node) or {}
            return {key: self._typed(item, known.get(key, {})) for key, item in value.items()}
        if isinstance(value, list):
            return [self._typed(item, node.get("items", {})) for item in value]
        return _scalar(value, node.get("type"))


def _scalar(value: Any, kind: str | list[str] | None) -> Any:
    match kind, value:
        case "boolean", "true" | "false":
            return value == "true"
        case "integer", str() if value.lstrip("-").isdigit():
            return int(value)
        case "string", bool():
            return str(value).lower()
        case "string", int() | float():
            return str(value)
    return value


@functools.cache
def schema(resource_type: str, region: str) -> Schema | None:
    """Return the schema of ``resource_type``; None if AWS publishes none (custom resources)."""
    from cfnlint.schema import ResourceNotFoundError  # noqa: PLC0415  takes half a second, and is not needed at start
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # noqa: PLC0415

    if resource_type.startswith("Custom::"):
        return None
    try:
        return Schema(PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, resource_type).schema)
    except ResourceNotFoundError:
        return None


def has_attribute(resource_type: str, region: str, name: str) -> bool:
    """Return whether Fn::GetAtt of a type has the attribute, as cfn-lint knows; custom resources have any."""
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # noqa: PLC0415  as above

    if schema(resource_type, region) is None:
        return True
    names = PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, resource_type).get_atts
    return name in names or ANY in names


def changes(before: Any, after: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Yield path, before and after (None: absent) where two values differ, within mappings and lists of equal length."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from changes(before.get(key), after.get(key), (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from changes(one, other, (*path, str(index)))
    elif before != after:
        yield path, before, after


def replacing(resource_type: str, region: str, changed: set[Path]) -> set[Path]:
    """Return the ``changed`` paths that replace the resource."""
    described = schema(resource_type, region)
    if described is None:
        return set()
    marked = described.create_only()
    return {path for path in changed if any(_touches(path, mark) for mark in marked)}


def _touches(path: Path, mark: Path) -> bool:
    """Return whether a change at ``path`` affects ``mark``: one path contains the other."""
    shared = min(len(path), len(mark))
    return path[:shared] == mark[:shared]
