"""AWS's own registry schemas (cfn-lint's wheel carries them): which properties there are, and whose change replaces."""

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from local_aws.cloudformation.template import Json

# The registry schema of these older types marks top-level properties alone. What CloudFormation's resource specification says of
# the others ("Update requires: Replacement"), as the CDK command line carries it too, stands here.
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
Path = tuple[str, ...]
Changed = dict[Path, tuple[Any, Any]]


@dataclass(frozen=True)
class Schema:
    """One resource type's schema."""

    document: Json

    def properties_of(self, node: Json) -> Json | None:
        """The properties that an object described by ``node`` may have; None where it may have any."""
        node = self.follow(node)
        found = dict(node.get("properties") or {})
        for part in (*node.get("oneOf", ()), *node.get("anyOf", ()), *node.get("allOf", ())):
            found |= self.properties_of(part) or {}
        return found if found and "patternProperties" not in node else None

    def items_of(self, node: Json) -> Json:
        """What describes the items of a list described by ``node``."""
        items: Json = self.follow(node).get("items", {})
        return items

    def follow(self, node: Json) -> Json:
        """What a reference within the schema leads to."""
        while "$ref" in node:
            target: Json = self.document
            for step in node["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            node = target
        return node

    def paths(self, kind: str) -> set[Path]:
        """The property paths listed under ``kind``, e.g. `readOnlyProperties`."""
        listed = self.document.get(kind) or ()
        return {tuple(path.split("/")[2:]) for path in listed}

    @property
    def tag_property(self) -> str | None:
        """The name of the property that takes tags, if there is one."""
        tagging = self.document.get("tagging")
        if tagging is None:
            return _FOREIGN_TAGS.get(self.document["typeName"])
        taggable = tagging.get("taggable", True)
        return str(tagging.get("tagProperty", "/properties/Tags")).split("/")[-1] if taggable else None

    @property
    def tags_are_a_map(self) -> bool:
        """Whether tags are written as a mapping rather than as a list of keys and values."""
        node = self.follow(self.document["properties"].get(self.tag_property or "", {}))
        return node.get("type") == "object" or "patternProperties" in node

    @property
    def takes_system_tags(self) -> bool:
        """Whether CloudFormation adds its own tags (aws:cloudformation:stack-name and others)."""
        return bool((self.document.get("tagging") or {}).get("cloudFormationSystemTags", True)) and self.tag_property is not None

    def create_only(self) -> set[Path]:
        """The paths whose change replaces the resource."""
        further = ALSO_CREATE_ONLY.get(self.document["typeName"], ())
        return self.paths("createOnlyProperties") | {tuple(path.split("/")) for path in further}

    def conditionally_create_only(self) -> set[Path]:
        """The paths whose change may replace the resource, or be refused by the service."""
        return self.paths("conditionalCreateOnlyProperties")

    def typed(self, properties: Json) -> Json:
        """``properties`` with each scalar in its schema's type, since templates may write "true" and 1200 as they like."""
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
    """The schema of ``resource_type``; None where AWS publishes none (custom resources)."""
    from cfnlint.schema import ResourceNotFoundError  # noqa: PLC0415  half a second to import, not needed at start
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # noqa: PLC0415

    if resource_type.startswith("Custom::"):
        return None
    try:
        return Schema(PROVIDER_SCHEMA_MANAGER.get_resource_schema(region, resource_type).schema)
    except ResourceNotFoundError:
        return None


def changes(before: Any, after: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Where two values differ, as deep as both are mappings or equally long lists: path, before, after (None: not there)."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from changes(before.get(key), after.get(key), (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from changes(one, other, (*path, str(index)))
    elif before != after:
        yield path, before, after


def replacing(resource_type: str, region: str, changed: set[Path]) -> set[Path]:
    """Those of the ``changed`` paths that replace the resource."""
    described = schema(resource_type, region)
    if described is None:
        return set()
    marked = described.create_only()
    return {path for path in changed if any(_touches(path, mark) for mark in marked)}


def _touches(path: Path, mark: Path) -> bool:
    """Whether a change at ``path`` changes what ``mark`` names: one lies within the other."""
    shared = min(len(path), len(mark))
    return path[:shared] == mark[:shared]
