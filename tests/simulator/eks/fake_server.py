"""A fake of an API server: objects by path, for tests without a control plane."""

import copy
import itertools
import threading
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from local_aws.eks.control_planes import Request

Json = dict[str, Any]
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


@dataclass
class FakeServer:
    """Objects by path; ``denied`` are the rights that RBAC does not give, as `VERB RESOURCE`."""

    objects: dict[str, Json] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)
    requests: list[Request] = field(default_factory=list)
    _versions: Any = field(default_factory=lambda: itertools.count(1))
    _lock: Any = field(default_factory=threading.Lock)

    def put(self, path: str, **parts: Any) -> None:
        """Add an object."""
        *_, name = path.split("/")
        namespace = path.split("/namespaces/")[1].split("/", maxsplit=1)[0] if "/namespaces/" in path else None
        metadata = {"name": name, "resourceVersion": str(next(self._versions)), **({"namespace": namespace} if namespace else {})}
        self.objects[path] = {"metadata": metadata, **parts}

    def call(self, request: Request) -> tuple[int, Any]:
        """Answer as an API server does, with copies."""
        with self._lock:
            self.requests.append(request)
            status, content = getattr(self, f"_{request.method.lower()}")(urlsplit(request.path).path, request.body)
            return status, copy.deepcopy(content)

    def _get(self, path: str, _: Any) -> tuple[int, Any]:
        if path in self.objects:
            return 200, self.objects[path]
        parent, _, name = path.rpartition("/")
        if name in ("nodes", "pods", "daemonsets", "events"):
            return 200, {"items": [each for key, each in self.objects.items() if self._is_in(key, path)]}
        return 404, {"message": f"{name} not found in {parent}"}

    @staticmethod
    def _is_in(key: str, collection: str) -> bool:
        kind = collection.rpartition("/")[2]
        return key.split("/")[-2] == kind and (key.rpartition("/")[0] == collection or "/namespaces/" not in collection)

    def _post(self, path: str, body: Any) -> tuple[int, Any]:
        if path == REVIEWS:
            asked = body["spec"]["resourceAttributes"]
            resource = "/".join(part for part in (asked["resource"], asked.get("subresource", "")) if part)
            return 201, {"status": {"allowed": f"{asked['verb']} {resource}" not in self.denied}}
        number = next(self._versions)
        name = body["metadata"].get("name") or f"{body['metadata']['generateName']}{number}"
        if f"{path}/{name}" in self.objects:
            return 409, {"message": f"{name} already exists"}
        made = {**body, "metadata": {**body["metadata"], "name": name, "resourceVersion": str(number)}}
        self.objects[f"{path}/{name}"] = made
        return 201, made

    def _patch(self, path: str, body: Any) -> tuple[int, Any]:
        found = self.objects.get(path.removesuffix("/status"))
        if found is None:
            return 404, {"message": f"{path} not found"}
        version = body.get("metadata", {}).get("resourceVersion", found["metadata"]["resourceVersion"])
        if version != found["metadata"]["resourceVersion"]:
            return 409, {"message": "the object has been modified"}
        _merge(found, body)
        found["metadata"]["resourceVersion"] = str(next(self._versions))
        return 200, found

    def _delete(self, path: str, _: Any) -> tuple[int, Any]:
        return (200, {}) if self.objects.pop(path, None) else (404, {"message": f"{path} not found"})


def _merge(into: Json, patch: Json) -> None:
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = copy.deepcopy(value)
