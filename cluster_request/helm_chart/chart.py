"""Render the chart of a cluster file, and read the objects in its manifests."""

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from yaml.nodes import MappingNode, ScalarNode

from cluster_request.helm_chart.program import NAMESPACE, HelmError, template
from config.eks import EksConfig

Json = dict[str, Any]
TAG = "tag:yaml.org,2002:"
DEFINITION = "CustomResourceDefinition"
HOOK = "helm.sh/hook"
# Kubernetes' kinds without a namespace, by API group: https://kubernetes.io/docs/reference/kubernetes-api
CLUSTER_KINDS = {
    "": {"Namespace", "Node", "PersistentVolume"},
    "admissionregistration.k8s.io": {
        *("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"),
        *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
    },
    "apiextensions.k8s.io": {DEFINITION},
    "apiregistration.k8s.io": {"APIService"},
    "certificates.k8s.io": {"CertificateSigningRequest", "ClusterTrustBundle"},
    "flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
    "networking.k8s.io": {"IngressClass", "IPAddress", "ServiceCIDR"},
    "node.k8s.io": {"RuntimeClass"},
    "rbac.authorization.k8s.io": {"ClusterRole", "ClusterRoleBinding"},
    "resource.k8s.io": {"DeviceClass", "ResourceSlice"},
    "scheduling.k8s.io": {"PriorityClass"},
    "storage.k8s.io": {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
}
NAMESPACED_GROUPS = {"apps", "autoscaling", "batch", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io", "policy"}


class Rendered(NamedTuple):
    """The objects of a chart, and those that only Helm would create, at certain times of a release."""

    objects: tuple[Json, ...]
    hooks: tuple[Json, ...]


def rendered(eks: EksConfig) -> Rendered | None:
    """Return the chart of the section, or None without one; raise HelmError if it cannot be rendered."""
    key = _key(eks)
    return _rendered(*key) if key else None


def random_objects(eks: EksConfig) -> list[str]:
    """Return the names of the objects that another rendering changes."""
    key = _key(eks)
    return sorted(set(_changed(_rendered(*key), _rendered.__wrapped__(*key)))) if key else []


def _key(eks: EksConfig) -> tuple[Path, str, str | None] | None:
    chart = eks.helm_chart
    return (chart.folder, json.dumps(chart.values, sort_keys=True), eks.version) if chart else None


def _changed(first: Rendered, again: Rendered) -> Iterator[str]:
    for one, other in ((first, again), (again, first)):
        yield from (name_of(item) for item in one.objects if item not in other.objects)


@functools.lru_cache(maxsize=16)
def _rendered(folder: Path, values: str, version: str | None) -> Rendered:
    """Render once for all rules and the template."""
    objects = objects_in(template(folder, json.loads(values), version))
    hooks = tuple(item for item in objects if hook_of(item))
    return Rendered(tuple(item for item in objects if not hook_of(item)), hooks)


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # the C loader reads large CRDs ten times as fast
    """Resolve scalars as Helm and kubectl do: `80:80` and `2024-01-01` are text, `yes` is true."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  declared like this by PyYAML

    def construct_mapping(self, node: MappingNode, deep: bool = False) -> dict[str, Any]:
        """Return the mapping with keys as in JSON, where 1 and true are different."""
        self.flatten_mapping(node)
        pairs = [(self.construct_object(key, deep=True), self.construct_object(value, deep=deep)) for key, value in node.value]
        return {key if isinstance(key, str) else json.dumps(key): value for key, value in pairs}


def _number(loader: _Loader, node: ScalarNode) -> int | float:
    """Return 1e3 as an integer, because the API server refuses 1000.0 where it expects one."""
    value = float(loader.construct_yaml_float(node))
    return int(value) if value.is_integer() else value


def _integer(loader: _Loader, node: ScalarNode) -> int:
    value = str(node.value).replace("0o", "0")
    return int(loader.construct_yaml_int(ScalarNode(node.tag, value)))


_BOOLEANS = r"^(?:[yY]|yes|Yes|YES|[nN]|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$"
_Loader.add_implicit_resolver(f"{TAG}bool", re.compile(_BOOLEANS), list("yYnNtTfFoO"))
_Loader.add_implicit_resolver(f"{TAG}null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])
_Loader.add_implicit_resolver(f"{TAG}merge", re.compile(r"^<<$"), ["<"])
_Loader.add_implicit_resolver(
    f"{TAG}int", re.compile(r"^[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*)$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    f"{TAG}float", re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"), list("-+0123456789.")
)
_Loader.add_constructor(f"{TAG}int", _integer)
_Loader.add_constructor(f"{TAG}float", _number)
_Loader.bool_values = {**yaml.SafeLoader.bool_values, "y": True, "n": False}


def objects_in(text: str) -> list[Json]:
    """Return the objects, with the release's namespace where Helm would set it."""
    try:
        documents = list(yaml.load_all(text, _Loader))
        found = [item for document in json.loads(json.dumps(documents)) for item in _flat(document)]
    except (yaml.YAMLError, ValueError, TypeError) as error:
        raise HelmError(f"the chart's manifests cannot be read: {' '.join(str(error).split())}", "correct the chart") from None
    scopes = dict(_scopes(found))
    return [_with_namespace(item, scopes) for item in found]


def name_of(item: Json) -> str:
    """Return the object as errors show it."""
    metadata = item["metadata"]
    space, name = metadata.get("namespace"), metadata.get("name") or f"{metadata.get('generateName', '')}*"
    return f"{item['kind']} {space}/{name}" if space else f"{item['kind']} {name}"


def hook_of(item: Json) -> str:
    """Return the hooks of an object, such as `pre-install`; an empty text for an ordinary object."""
    return str((item["metadata"].get("annotations") or {}).get(HOOK) or "")


def _flat(document: Any) -> Iterator[Json]:
    """Yield the object, or those of a List."""
    if not document:
        return
    if not isinstance(document, dict) or not all(isinstance(document.get(key), str) for key in ("apiVersion", "kind")):
        raise TypeError(f"{json.dumps(document)[:80]} has no apiVersion or kind")
    if document["kind"].endswith("List") and isinstance(document.get("items"), list):
        for item in document["items"]:
            yield from _flat(item)
    elif not isinstance(document.get("metadata"), dict):
        raise TypeError(f"a {document['kind']} has no metadata")
    else:
        yield document


def _scopes(objects: list[Json]) -> Iterator[tuple[tuple[str, str], bool]]:
    """Yield the kinds that the chart defines, and whether they have a namespace."""
    for item in objects:
        if item["kind"] == DEFINITION:
            spec = item.get("spec") or {}
            yield (spec.get("group", ""), (spec.get("names") or {}).get("kind", "")), spec.get("scope") == "Namespaced"


def _with_namespace(item: Json, scopes: dict[tuple[str, str], bool]) -> Json:
    """Add the namespace to namespaced kinds. Others stay unchanged: the API server refuses a wrong namespace."""
    if item["metadata"].get("namespace"):
        return item
    group, kind = item["apiVersion"].rpartition("/")[0], item["kind"]
    known = group in CLUSTER_KINDS or group in NAMESPACED_GROUPS
    is_namespaced = scopes.get((group, kind), known and kind not in CLUSTER_KINDS.get(group, ()))
    return {**item, "metadata": {**item["metadata"], "namespace": NAMESPACE}} if is_namespaced else item
