"""Find the URL of an object: the API server says which plural name and scope a kind has."""

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote

from cluster_resource.event import Json
from kubernetes_resource.client import KubernetesClient
from kubernetes_resource.errors import Kind, KubernetesError
from kubernetes_resource.objects import Reference

SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


class Collection(NamedTuple):
    """A kind in a version of the API."""

    root: str
    kind: str
    plural: str
    is_namespaced: bool
    verbs: frozenset[str]

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the path of the collection, or of an object in it."""
        scope = f"/namespaces/{_segment(namespace)}" if namespace else ""
        return f"{self.root}{scope}/{self.plural}{f'/{_segment(name)}' if name else ''}"


class Discovery:
    """What an API server serves; each version is read once per step."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client
        self._known: dict[str, dict[str, Collection]] = {}

    def path(self, reference: Reference) -> str | None:
        """Return the path of an object in its own version; nothing if the server does not serve it."""
        collection = self._collections_of(reference.api_version).get(reference.kind)
        if collection is None:
            return None
        if collection.is_namespaced != bool(reference.namespace):
            needed = "missing" if collection.is_namespaced else "set, but the kind is cluster-wide"
            raise KubernetesError(Kind.INVALID, str(reference), f"metadata.namespace is {needed}")
        return collection.path(reference.namespace, reference.name)

    def path_in_any_version(self, reference: Reference) -> str | None:
        """Return the path of an object in any version; nothing if its kind is gone, and so the object."""
        for version in dict.fromkeys((reference.api_version, *self._versions(reference.group))):
            collection = self._collections_of(version).get(reference.kind)
            if collection:
                return collection.path(reference.namespace, reference.name)
        return None

    def namespaced(self) -> Iterator[Collection]:
        """Yield the kinds whose objects live in namespaces and can be listed and deleted."""
        seen = set()
        for group, version in (("", "v1"), *self._all_versions()):
            for collection in self._collections_of(version).values():
                is_wanted = collection.is_namespaced and {"list", "delete"} <= collection.verbs
                if is_wanted and (group, collection.kind) not in seen:
                    seen.add((group, collection.kind))
                    yield collection

    def _versions(self, group: str) -> list[str]:
        """Return the served versions of a group."""
        if not group:
            return ["v1"]
        found = self._client.get(f"/apis/{group}", f"API group {group}") or {}
        return [version["groupVersion"] for version in found.get("versions") or ()]

    def _all_versions(self) -> Iterator[tuple[str, str]]:
        """Yield each group with each of its versions: a kind can be in any of them."""
        for group in (self._client.get("/apis", "API groups") or {}).get("groups") or ():
            for version in group["versions"]:
                yield group["name"], version["groupVersion"]

    def _collections_of(self, version: str) -> dict[str, Collection]:
        """Return the kinds of a version; none if it is not served. Nothing unserved is remembered: a definition may add it."""
        if version not in self._known:
            root = f"/apis/{version}" if "/" in version else f"/api/{version}"
            found = self._version(version, root)
            if found is None:
                return {}
            self._known[version] = {
                resource["kind"]: _collection(root, resource) for resource in found["resources"] if "/" not in resource["name"]
            }
        return self._known[version]

    def _version(self, version: str, root: str) -> Json | None:
        """Return the reply for a version; the pods behind an aggregated API can be away while the API server is not."""
        try:
            return self._client.get(root, f"API {version}")
        except KubernetesError as error:
            if error.status != 503 or "/" not in version:
                raise
            service = ".".join(reversed(version.split("/")))
            if not self._has_pods(service):
                raise
            fix = f"restore the pods of APIService {service} or delete it, then deploy again"
            raise KubernetesError(Kind.PODS_AWAY, error.subject, error.text, fix=fix) from error

    def _has_pods(self, service: str) -> bool:
        """Return whether pods serve an API; the API server itself replies 503, too, before it has loaded all APIs."""
        live = self._client.get(f"{SERVICES}/{service}", f"APIService {service}") or {}
        return bool((live.get("spec") or {}).get("service"))


def _segment(name: str) -> str:
    """Return a name as a part of a path: names of roles can have any character except / and %."""
    return quote(name, safe=":")


def _collection(root: str, resource: Json) -> Collection:
    return Collection(root, resource["kind"], resource["name"], resource["namespaced"], frozenset(resource.get("verbs") or ()))
