"""Compare the settings of an EKS add-on with its JSON schema."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, warning
from cluster_request.eks_addons import Addon

Schema = Mapping[str, Any]


def addon_settings(account: Account, addon: Addon) -> Iterator[CheckResult]:
    """Check that the add-on has each setting of the deployment and of the file: EKS refuses others, hours into a deployment."""
    if not addon.configuration:
        return
    name, version = addon.name.value, str(addon.version)
    answer = account.client("eks").describe_addon_configuration(addonName=name, addonVersion=version)
    try:
        schema = json.loads(answer.get("configurationSchema") or "{}")
    except (ValueError, RecursionError):
        yield warning(f"{name} {version}: its schema is not JSON, so its settings are not checked", "check them yourself")
        return
    for path in refused_settings(schema, addon.configuration):
        fix = f"set `{path}` to `null` in `eks.addons.{name}.configuration`, or choose a version that has it"
        yield error(f"{name} {version} has no setting {path}, so EKS refuses it", fix)


def refused_settings(schema: Schema, settings: Mapping[str, Any]) -> list[str]:
    """Return the paths of settings that the schema does not define, in objects that accept no others."""
    return list(_refused(schema, schema, settings, ""))


def _refused(root: Schema, schema: Schema, settings: Mapping[str, Any], prefix: str) -> Iterator[str]:
    schema = _resolved(root, schema)
    properties = schema.get("properties") or {}
    for name, value in settings.items():
        if name in properties:
            if isinstance(value, Mapping):
                yield from _refused(root, properties[name], value, f"{prefix}{name}.")
        elif schema.get("additionalProperties") is False and not schema.get("patternProperties"):
            yield prefix + name


def _resolved(root: Schema, schema: Schema) -> Schema:
    """Return the definition that the schema refers to, such as `#/definitions/Coredns`."""
    seen: set[str] = set()
    while (reference := schema.get("$ref")) and reference.startswith("#/") and reference not in seen:
        seen.add(reference)
        schema = root
        for part in reference.split("/")[1:]:
            schema = schema.get(part) or {}
    return schema
