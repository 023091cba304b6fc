"""Parsing and checking of templates."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from local_aws.cloudformation.errors import TemplateError

Json = dict[str, Any]

SECTIONS = {
    "AWSTemplateFormatVersion",
    "Conditions",
    "Description",
    "Mappings",
    "Metadata",
    "Outputs",
    "Parameters",
    "Resources",
    "Rules",
}
ATTRIBUTES = {
    "Condition",
    "DeletionPolicy",
    "DependsOn",
    "Metadata",
    "Properties",
    "Type",
    "UpdateReplacePolicy",
}
DELETION_POLICIES = {"Delete", "Retain", "RetainExceptOnCreate"}


@dataclass(frozen=True)
class Target:
    """A template with its parameters and tags, as a request gives them."""

    body: str
    given: Mapping[str, str]
    tags: tuple[tuple[str, str], ...]


class _Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short forms; dates stay text."""


def _short_form(loader: _Loader, suffix: str, node: yaml.Node) -> Json:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)  # noqa: S101  YAML has no fourth kind of node
        value = loader.construct_mapping(node, deep=True)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _short_form)
_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def parse(body: str) -> Json:
    """Return the parsed template, after a check of its sections and attributes."""
    try:
        template = json.loads(body)
    except ValueError:
        template = _parse_yaml(body)
    if not isinstance(template, dict):
        raise TemplateError("Template format error: unsupported structure.")
    _check_nulls(template, "")
    _check_sections(template)
    for name, resource in template["Resources"].items():
        _check_resource(name, resource)
    return template


def _parse_yaml(body: str) -> Any:
    try:
        return yaml.load(body, Loader=_Loader)  # noqa: S506  a SafeLoader with additional tags
    except yaml.YAMLError as error:
        raise TemplateError(f"Template format error: YAML not well-formed. {error}") from error


def _check_sections(template: Json) -> None:
    unknown = sorted(set(template) - SECTIONS)
    if "Transform" in unknown:
        raise TemplateError("not part of the embedded AWS: Transform (macros)")
    if unknown:
        raise TemplateError(f"Invalid template property or properties [{', '.join(unknown)}]")
    if "Rules" in template and any("Assertions" not in rule for rule in template["Rules"].values()):
        raise TemplateError("Template format error: every rule needs Assertions")
    if not template.get("Resources"):
        raise TemplateError("Template format error: At least one Resources member must be defined.")
    for mapping in template.get("Mappings", {}).values():
        _check_mapping(mapping)
    if any(not isinstance(output, dict) or "Value" not in output for output in template.get("Outputs", {}).values()):
        raise TemplateError("Template format error: Every Outputs member must contain a Value object")


def _check_nulls(value: Any, path: str) -> None:
    if value is None:
        raise TemplateError(f"[{path}] 'null' values are not allowed in templates")
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        _check_nulls(item, f"{path}/{key}")


def _check_mapping(mapping: Json) -> None:
    """Refuse a mapping that has not exactly two levels of keys."""
    for key, members in mapping.items():
        if not isinstance(members, dict):
            raise TemplateError(f"Template format error: Every Mappings member {key} must be a map")
        if any(isinstance(value, dict) for value in members.values()):
            raise TemplateError("Template format error: Every Mappings attribute must be a String or a List.")


def _check_resource(name: str, resource: Json) -> None:
    if not name.isalnum():
        raise TemplateError(f"Template format error: Resource name {name} is non alphanumeric.")
    if not isinstance(resource, dict):
        raise TemplateError("Template format error: Any Resources member must be an object.")
    if not isinstance(resource.get("Type"), str):
        raise TemplateError(f"Template format error: [/Resources/{name}] Every Resources object must contain a Type member.")
    unknown = sorted(set(resource) - ATTRIBUTES)
    if unknown:
        raise TemplateError(f"not part of the embedded AWS: attribute {', '.join(unknown)} (resource {name})")
    for policy in ("DeletionPolicy", "UpdateReplacePolicy"):
        if resource.get(policy, "Delete") not in DELETION_POLICIES:
            raise TemplateError(f"not part of the embedded AWS: {policy} {resource[policy]} (resource {name})")
