"""Server-side apply as far as the applier's tests need it: which manager owns which field, and when two of them conflict.

Lists are atomic, except those that Kubernetes merges by name.
"""

import copy
from typing import Any

Json = dict[str, Any]
Path = tuple[str, ...]
Owners = dict[str, set[Path]]
BY_NAME = ("containers", "initContainers", "volumes", "env")
IDENTITY = {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"), ("metadata", "uid")}


class ConflictError(Exception):
    """Fields belong to other managers."""

    def __init__(self, fields: list[tuple[str, str]]) -> None:
        super().__init__(str(fields))
        self.fields = fields


def leaves(value: Any, path: Path = ()) -> dict[Path, Any]:
    """Return the value of each field that a manager can own."""
    if isinstance(value, dict) and value:
        found: dict[Path, Any] = {}
        for key, item in value.items():
            found |= leaves(item, (*path, key))
        return found
    if isinstance(value, list) and value and path and path[-1] in BY_NAME:
        found = {}
        for item in value:
            found |= leaves(item, (*path, f'[name="{item["name"]}"]'))
        return found
    return {path: value} if path else {}


def apply(live: Json | None, owners: Owners, desired: Json, manager: str, *, force: bool) -> tuple[Json, Owners]:
    """Return the object and the owners after an apply; raise ConflictError without force."""
    wanted = {path: value for path, value in leaves(desired).items() if path not in IDENTITY}
    present = leaves(live or {})
    conflicts = [
        (path, other)
        for path, value in wanted.items()
        for other, paths in sorted(owners.items())
        if other != manager and path in paths and present.get(path) != value
    ]
    if conflicts and not force:
        raise ConflictError([(text_of(path), other) for path, other in conflicts])
    after: Owners = {other: set(paths) for other, paths in owners.items()}
    for path, other in conflicts:
        after[other].discard(path)
    dropped = after.pop(manager, set()) - wanted.keys()
    after = {other: paths for other, paths in after.items() if paths}
    shared = set().union(*after.values()) if after else set()
    kept = {path: value for path, value in present.items() if path not in dropped - shared}
    identity = {path: value for path, value in leaves(desired).items() if path in IDENTITY}
    return tree_of({**kept, **identity, **wanted}), {**after, manager: set(wanted)}


def update(live: Json, owners: Owners, new: Json, manager: str) -> Owners:
    """Return the owners after an update: its manager owns what it changed."""
    before, after = leaves(live), leaves(new)
    changed = {path for path, value in after.items() if path not in IDENTITY and before.get(path, ...) != value}
    rest = {other: {path for path in paths & after.keys() if path not in changed} for other, paths in owners.items()}
    rest[manager] = rest.get(manager, set()) | changed
    return {other: paths for other, paths in rest.items() if paths}


def tree_of(fields: dict[Path, Any]) -> Json:
    """Return the object with these fields."""
    root: Json = {}
    for path, value in fields.items():
        place: Any = root
        for index, part in enumerate(path[:-1]):
            place = _child(place, part, [] if path[index + 1].startswith("[name=") else {})
        place[path[-1]] = copy.deepcopy(value)
    return root


def _child(place: Any, part: str, empty: Any) -> Any:
    if not part.startswith("[name="):
        return place.setdefault(part, empty)
    name = part[len('[name="') : -2]
    found = next((item for item in place if item.get("name") == name), None)
    if found is None:
        found = {"name": name}
        place.append(found)
    return found


def text_of(path: Path) -> str:
    """Return a path as the API server shows it."""
    return "".join(part if part.startswith("[") else f".{part}" for part in path)
