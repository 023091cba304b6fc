"""A Kubernetes API server in memory: verbs, discovery, server-side apply, finalizers, namespaces and definitions.

It is called like the applier's transport. Controllers act in `settle`, which tests call.
"""

import copy
import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.unit.kubernetes_resource.controllers import (
    CLEAN_UP,
    DELETED_AT,
    drop,
    settle_claim,
    settle_definition,
    settle_namespace,
    settle_volume,
)
from tests.unit.kubernetes_resource.discovery_replies import NotServedError, Served, discovery
from tests.unit.kubernetes_resource.managed_fields import ConflictError, Owners, apply, update
from tests.unit.kubernetes_resource.refusals import Refusal, check_immutable, check_uid

Json = dict[str, Any]
Key = tuple[str, str, str, str]
"""Group, plural name, namespace and name."""
TOKEN = "k8s-aws-v1.good"
BUILT_IN = {
    "v1": [("Namespace", "namespaces", False), ("ConfigMap", "configmaps", True), ("ServiceAccount", "serviceaccounts", True),
           ("Pod", "pods", True), ("Secret", "secrets", True), ("ResourceQuota", "resourcequotas", True),
           ("Event", "events", True),
           ("PersistentVolume", "persistentvolumes", False), ("PersistentVolumeClaim", "persistentvolumeclaims", True)],
    "apps/v1": [("DaemonSet", "daemonsets", True)],
    "batch/v1": [("Job", "jobs", True)],
    "batch/v1beta1": [("CronJob", "cronjobs", True)],
    "rbac.authorization.k8s.io/v1": [("ClusterRole", "clusterroles", False),
                                     ("ClusterRoleBinding", "clusterrolebindings", False),
                                     ("RoleBinding", "rolebindings", True)],
    "apiregistration.k8s.io/v1": [("APIService", "apiservices", False)],
    "apiextensions.k8s.io/v1": [("CustomResourceDefinition", "customresourcedefinitions", False)],
}  # fmt: skip
CLAIMS, VOLUMES = ("", "persistentvolumeclaims"), ("", "persistentvolumes")
DEFINITIONS, NAMESPACES = ("apiextensions.k8s.io", "customresourcedefinitions"), ("", "namespaces")


@dataclass
class Stored:
    """One object and who owns its fields."""

    live: Json
    owners: Owners


@dataclass
class Place:
    """What a path means."""

    group: str
    plural: str
    namespace: str
    name: str
    kind: str

    @property
    def key(self) -> Key:
        return (self.group, self.plural, self.namespace, self.name)


@dataclass
class ApiServer:
    """The server; ``faults`` maps the number of a call to what happens instead of it or after it."""

    objects: dict[Key, Stored] = field(default_factory=dict)
    served: Served = field(default_factory=lambda: copy.deepcopy(BUILT_IN))
    calls: list[tuple[str, str]] = field(default_factory=list)
    before: dict[int, BaseException | tuple[int, Json]] = field(default_factory=dict)
    after: dict[int, BaseException] = field(default_factory=dict)
    on_call: Callable[[str, Place], None] = lambda _method, _place: None
    is_authenticated: bool = True
    down: BaseException | None = None
    definitions_take_effect: bool = True
    closed: int = 0
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        for name in ("default", "kube-system"):
            self.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.settle()

    def __call__(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, bytes]:
        number = len(self.calls)
        self.calls.append((method, path))
        if self.down:
            raise self.down
        fault = self.before.get(number)
        if isinstance(fault, BaseException):
            raise fault
        try:
            status, reply = fault or self._reply(method, path, headers, body)
            content = json.dumps(reply).encode()
        except NotServedError:
            status, content = 404, b"404 page not found\n"
        if number in self.after:
            raise self.after[number]
        return status, content

    def close(self) -> None:
        """Count the connections that are closed."""
        self.closed += 1

    def add(self, item: Json, manager: str = "kubectl") -> Json:
        """Create an object as another client."""
        place = self._place_of(item)
        return self._store(place, copy.deepcopy(item), {manager: set(_changed({}, item, manager))})

    def edit(self, kind: str, name: str, change: Callable[[Json], object], namespace: str = "", manager: str = "kubectl") -> None:
        """Change an object as another client."""
        key = next(each for each in self.objects if self._is(each, kind, namespace, name))
        new = copy.deepcopy(self.objects[key].live)
        change(new)
        self._replace(key, new, manager)
        self._collect()

    def find(self, kind: str, name: str, namespace: str = "") -> Json | None:
        """Return an object."""
        return next((stored.live for key, stored in self.objects.items() if self._is(key, kind, namespace, name)), None)

    def names(self, label: str) -> set[str]:
        """Return the objects with a label, as text."""
        lives = [stored.live for stored in self.objects.values()]
        return {_text(live) for live in lives if label in (live["metadata"].get("labels") or {})}

    def settle(self) -> None:
        """Let the controllers work until they are done."""
        for _ in range(5):
            for key, stored in list(self.objects.items()):
                if key[:2] == NAMESPACES:
                    settle_namespace(self, stored.live)
                if key[:2] == DEFINITIONS:
                    settle_definition(self, stored.live)
                if key[:2] == CLAIMS:
                    settle_claim(self, stored.live)
                if key[:2] == VOLUMES:
                    settle_volume(self, stored.live)
                drop(stored.live["metadata"], "foregroundDeletion")
            self._collect()

    def _reply(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, Json]:
        try:
            if not self.is_authenticated or headers["Authorization"] != f"Bearer {TOKEN}":
                raise Refusal(401, "Unauthorized", "Unauthorized")
            parts = urlsplit(path)
            found = discovery(self.served, parts.path)
            if found is not None:
                return 200, found
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            status, reply = self._verb(method, self._place(parts.path), query, json.loads(body or b"{}"))
            return status, _metadata_list(reply) if "as=PartialObjectMetadataList" in headers["Accept"] else reply
        except Refusal as refusal:
            return refusal.status, refusal.body

    def _verb(self, method: str, place: Place, query: Mapping[str, str], body: Json) -> tuple[int, Json]:
        self.on_call(method, place)
        if method == "GET" and not place.name:
            return 200, self._list(place, query)
        if method == "POST":
            place.name = body["metadata"]["name"]
            if place.key in self.objects:
                raise Refusal(409, "AlreadyExists", f'{place.plural} "{place.name}" already exists')
            return 201, self._store(place, body, {query["fieldManager"]: set(_changed({}, body, query["fieldManager"]))})
        if method == "PATCH":
            return 200, self._apply(place, body, query)
        if place.key not in self.objects:
            raise Refusal(404, "NotFound", f'{place.plural} "{place.name}" not found')
        if method == "PUT":
            self._check_version(place, body["metadata"].get("resourceVersion"))
            return 200, self._replace(place.key, body, query["fieldManager"])
        return 200, self._delete(place, body) if method == "DELETE" else copy.deepcopy(self.objects[place.key].live)

    def _list(self, place: Place, query: Mapping[str, str]) -> Json:
        keys = [key for key in self.objects if key[:2] == (place.group, place.plural) and place.namespace in ("", key[2])]
        start, limit = int(query.get("continue", "0")), int(query["limit"])
        more = {"continue": str(start + limit)} if start + limit < len(keys) else {}
        return {"items": [copy.deepcopy(self.objects[key].live) for key in keys[start : start + limit]], "metadata": more}

    def _apply(self, place: Place, desired: Json, query: Mapping[str, str]) -> Json:
        stored = self.objects.get(place.key, Stored({}, {}))
        check_uid(stored.live, desired)
        try:
            new, owners = apply(
                stored.live or None, stored.owners, desired, query["fieldManager"], force=query["force"] == "true"
            )
        except ConflictError as conflict:
            causes = [
                {
                    "reason": "FieldManagerConflict",
                    "field": name,
                    "message": f'conflict with "{other}" using {desired["apiVersion"]}',
                }
                for name, other in conflict.fields
            ]
            raise Refusal(409, "Conflict", f"Apply failed with {len(causes)} conflict", causes) from conflict
        check_immutable(stored.live, new)
        if not stored.live:
            return self._store(place, new, owners)
        if (new, owners) != (stored.live, stored.owners):
            self._write(place.key, new, owners)
        return copy.deepcopy(self.objects[place.key].live)

    def _store(self, place: Place, item: Json, owners: Owners) -> Json:
        space = self.find("Namespace", place.namespace) if place.namespace else {"metadata": {}}
        if space is None:
            raise Refusal(404, "NotFound", f'namespaces "{place.namespace}" not found')
        if space["metadata"].get("deletionTimestamp"):
            text = f"unable to create new content in namespace {place.namespace} because it is being terminated"
            raise Refusal(
                403, "Forbidden", f'{place.plural} "{place.name}" is forbidden: {text}', [{"reason": "NamespaceTerminating"}]
            )
        new = {**item, "metadata": {**item["metadata"], "uid": f"uid-{next(self._numbers)}"}}
        self._write(place.key, new, owners)
        return copy.deepcopy(self.objects[place.key].live)

    def _replace(self, key: Key, item: Json, manager: str) -> Json:
        stored = self.objects[key]
        new = {**item, "metadata": {**item["metadata"], **_system(stored.live)}}
        new["metadata"]["finalizers"] = item["metadata"].get("finalizers") or []
        self._write(key, new, update(stored.live, stored.owners, new, manager))
        return copy.deepcopy(self.objects[key].live)

    def _write(self, key: Key, item: Json, owners: Owners) -> None:
        managers = [{"manager": name} for name in sorted(owners)]
        metadata = {**item["metadata"], "resourceVersion": str(next(self._numbers)), "managedFields": managers}
        self.objects[key] = Stored({**copy.deepcopy(item), "metadata": metadata}, owners)

    def _delete(self, place: Place, options: Json) -> Json:
        live = self.objects[place.key].live
        known = options.get("preconditions") or {}
        if known.get("uid", live["metadata"]["uid"]) != live["metadata"]["uid"]:
            raise Refusal(409, "Conflict", "the UID in the precondition does not match")
        self._check_version(place, known.get("resourceVersion"))
        waits = {"foregroundDeletion"} if options.get("propagationPolicy") == "Foreground" else set()
        waits |= {CLEAN_UP} if place.key[:2] == DEFINITIONS else set()
        waits |= {"kubernetes"} if place.key[:2] == NAMESPACES else set()
        live["metadata"]["finalizers"] = [*(live["metadata"].get("finalizers") or []), *sorted(waits)]
        live["metadata"]["deletionTimestamp"] = DELETED_AT
        self._collect()
        return {"kind": "Status", "status": "Success"}

    def _check_version(self, place: Place, version: str | None) -> None:
        if version is not None and version != self.objects[place.key].live["metadata"]["resourceVersion"]:
            raise Refusal(
                409, "Conflict", f'Operation cannot be fulfilled on {place.plural} "{place.name}": the object has been modified'
            )

    def _collect(self) -> None:
        """Remove the objects whose deletion nothing blocks."""
        for key, stored in list(self.objects.items()):
            metadata = stored.live["metadata"]
            if metadata.get("deletionTimestamp") and not metadata.get("finalizers"):
                del self.objects[key]
                if key[:2] == DEFINITIONS:
                    self.served.pop(f"{stored.live['spec']['group']}/v1", None)

    def _place(self, path: str) -> Place:
        parts = [unquote(part) for part in path.strip("/").split("/")]
        version, rest = (parts[1], parts[2:]) if parts[0] == "api" else ("/".join(parts[1:3]), parts[3:])
        namespace = rest[1] if rest[0] == "namespaces" and len(rest) > 2 else ""
        rest = rest[2:] if namespace else rest
        kind = next((kind for kind, plural, _ in self.served.get(version, ()) if plural == rest[0]), None)
        if kind is None:
            raise Refusal(404, "NotFound", "the server could not find the requested resource")
        return Place(version.rpartition("/")[0], rest[0], namespace, rest[1] if len(rest) > 1 else "", kind)

    def _place_of(self, item: Json) -> Place:
        version, metadata = item["apiVersion"], item["metadata"]
        plural = next(plural for kind, plural, _ in self.served[version] if kind == item["kind"])
        return Place(version.rpartition("/")[0], plural, metadata.get("namespace", ""), metadata["name"], item["kind"])

    def _is(self, key: Key, kind: str, namespace: str, name: str) -> bool:
        return key[2:] == (namespace, name) and self.objects[key].live["kind"] == kind


def _metadata_list(reply: Json) -> Json:
    """Return a list without specs, data and types."""
    items = [{"kind": "PartialObjectMetadata", "metadata": item["metadata"]} for item in reply["items"]]
    return {**reply, "kind": "PartialObjectMetadataList", "items": items}


def _system(live: Json) -> Json:
    """Return the metadata that the server owns."""
    names = ("uid", "resourceVersion", "managedFields", "deletionTimestamp", "finalizers")
    return {name: value for name, value in live["metadata"].items() if name in names}


def _changed(before: Json, item: Json, manager: str) -> set[tuple[str, ...]]:
    return update(before, {}, item, manager).get(manager, set())


def _text(live: Json) -> str:
    metadata = live["metadata"]
    return (
        f"{live['kind']} {metadata['namespace']}/{metadata['name']}"
        if metadata.get("namespace")
        else f"{live['kind']} {metadata['name']}"
    )
