"""What the API server in memory refuses, and how."""

from typing import Any

Json = dict[str, Any]


class Refusal(Exception):  # noqa: N818 (a reply, not a defect)
    """A reply with a Status object."""

    def __init__(self, status: int, reason: str, message: str, causes: list[Json] | None = None) -> None:
        super().__init__(message)
        details = {"details": {"causes": causes}} if causes else {}
        self.status = status
        self.body = {"kind": "Status", "status": "Failure", "code": status, "reason": reason, "message": message, **details}


def check_uid(before: Json, desired: Json) -> None:
    """Refuse an object with the uid of another one."""
    uid = desired["metadata"].get("uid")
    if before and uid not in (None, before["metadata"]["uid"]):
        text = f'metadata.uid: Invalid value: "{uid}": field is immutable'
        raise Refusal(422, "Invalid", text, [{"reason": "FieldValueInvalid", "field": "metadata.uid", "message": text}])


def check_immutable(before: Json, new: Json) -> None:
    """Refuse a change of an immutable field."""
    for kind, path in (("DaemonSet", ("spec", "selector")), ("ClusterRoleBinding", ("roleRef",))):
        if before and new["kind"] == kind and _at(before, path) != _at(new, path):
            text = f'{kind} "{new["metadata"]["name"]}" is invalid: {".".join(path)}: Invalid value: field is immutable'
            raise Refusal(422, "Invalid", text)


def _at(item: Any, path: tuple[str, ...]) -> Any:
    for part in path:
        item = (item or {}).get(part)
    return item
