"""CloudFormation with one stack that has Custom::HyperPodRollout, and the versions of scripts that it deploys."""

from collections.abc import Callable
from typing import Any

from cluster_resource.event import ROLLOUT
from tests.soak.cloudformation import CloudFormation, Request
from tests.soak.timeline import Timeline
from tests.unit.cluster_resource.rollout_world import rollout_properties
from tests.unit.cluster_resource.world import as_strings

Json = dict[str, Any]
LOGICAL_ID = "Rollout"
FILES: dict[str, Json] = {
    "a": rollout_properties("a"),
    "b": rollout_properties("b"),
    "c": rollout_properties("c"),
    "a-warn": rollout_properties("a", OnFailure="warn"),
    "b-warn": rollout_properties("b", OnFailure="warn"),
}


def version_of(file: str) -> str:
    """Return the version of scripts in a file."""
    return file.partition("-")[0]


class RolloutStack(CloudFormation):
    """The stack; its one resource is never replaced and has no wait."""

    def __init__(self, timeline: Timeline, deliver: Callable[[Json], None], on_gone: Callable[[], None]) -> None:
        super().__init__(timeline, deliver)
        self._on_gone = on_gone
        """Called when the resource is deleted: the log group is deleted after it."""

    def _deleted(self, request: Request, *, is_success: bool) -> None:
        super()._deleted(request, is_success=is_success)
        if self.resource is None:
            self._on_gone()

    def _is_awaited(self, request: Request) -> bool:
        return False

    def _send(self, kind: str, purpose: str, physical_id: str, file: str, old_file: str, *, then: str = "") -> None:
        if purpose == "deploy":
            self._properties[file] = as_strings({**FILES[file], **self.novelty})
        raw = {
            **self._event(kind),
            "LogicalResourceId": LOGICAL_ID,
            "ResourceType": ROLLOUT,
            "ResourceProperties": self._properties[file],
            **({"PhysicalResourceId": physical_id} if physical_id else {}),
            **({"OldResourceProperties": self._properties[old_file]} if old_file else {}),
        }
        self._open(Request(raw, purpose, file, old_file, self._timeline.clock.now, then))
