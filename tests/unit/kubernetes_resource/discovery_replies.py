"""Replies to discovery, for the API server in memory."""

from typing import Any

Json = dict[str, Any]
Served = dict[str, list[tuple[str, str, bool]]]
"""For each version: kind, plural name, and whether it is namespaced."""
VERBS = ["create", "delete", "get", "list", "patch", "update"]


class NotServedError(Exception):
    """The API server has no such group or version: it replies without a Status object."""


def discovery(served: Served, path: str) -> Json | None:
    """Return the reply to a discovery path, or nothing for other paths."""
    found_groups: dict[str, list[Json]] = {}
    for version in served:
        if "/" in version:
            found_groups.setdefault(version.split("/")[0], []).append({"groupVersion": version})
    groups = [{"name": name, "versions": each, "preferredVersion": each[0]} for name, each in found_groups.items()]
    if path == "/apis":
        return {"groups": groups}
    parts = path.strip("/").split("/")
    if parts[0] == "apis" and len(parts) == 2:
        found = next((group for group in groups if group["name"] == parts[1]), None)
        if found is None:
            raise NotServedError
        return found
    version = "/".join(parts[1:])
    if len(parts) == (2 if parts[0] == "api" else 3):
        if version not in served:
            raise NotServedError
        return {"resources": [_resource(*each) for each in served[version]]}
    return None


def _resource(kind: str, plural: str, is_namespaced: bool) -> Json:
    return {"name": plural, "kind": kind, "namespaced": is_namespaced, "verbs": VERBS}
