"""The rollback of a failed creation or update."""

import copy
from collections.abc import Iterable
from dataclasses import dataclass

from local_aws.cloudformation import removal, steps
from local_aws.cloudformation.graph import Graph, dependencies
from local_aws.cloudformation.operation import renew_halt
from local_aws.cloudformation.parallel import walk
from local_aws.cloudformation.stack import Leftover, Operation, Stack, StackResource, Touched, Unfinished

SKIPPED = "Resource skipped during UpdateRollback"


@dataclass
class Rollback:
    """The rollback of ``stack`` after a failed creation or update."""

    stack: Stack
    todo: Unfinished

    def start(self, operation: Operation, reason: str) -> None:
        """Roll back, within the failed operation."""
        if renew_halt(self.stack, operation):
            self.stack.report(f"{self.todo.verb}_IN_PROGRESS", reason)
            self.run()

    def run(self, skip: Iterable[str] = ()) -> None:
        """Roll back; only report the resources in ``skip`` as rolled back."""
        if self.todo.first:
            self._remove_all()
        else:
            self._revert_all(frozenset(skip))

    def _remove_all(self) -> None:
        leftovers = [Leftover(resource, _policy_at_creation(resource)) for resource in self.stack.resources.values()]
        outcome = removal.remove(self.stack, leftovers)
        stuck = {leftovers[int(key)].resource.logical_id for key in (*outcome.failed, *outcome.skipped)}
        for name in [name for name in self.stack.resources if name not in stuck]:
            del self.stack.resources[name]
        self._finish(sorted(stuck))

    def _revert_all(self, skip: frozenset[str]) -> None:
        changed = {one.resource.logical_id: one for one in self.todo.touched if one.before is not None}
        graph = dependencies({name: one.before.definition for name, one in changed.items() if one.before})
        outcome = walk(
            self._only(graph, changed), lambda name: self._revert(changed[name], skip), self.stack.operation.halt, keep_going=True
        )
        stuck = {*outcome.failed, *outcome.skipped}
        self.todo.touched = [one for one in self.todo.touched if one.before is None or one.resource.logical_id in stuck]
        if not stuck:
            self._drop_new()
        self._finish(sorted(stuck))

    def _only(self, graph: Graph, changed: dict[str, Touched]) -> Graph:
        return {name: needs & set(changed) for name, needs in graph.items()}

    def _revert(self, touched: Touched, skip: frozenset[str]) -> None:
        resource, before = touched.resource, touched.before
        assert before is not None  # noqa: S101  _revert_all only passes such resources
        if resource.logical_id in skip:
            _restore(resource, before)
            self.stack.report_resource(resource, "UPDATE_COMPLETE", SKIPPED)
            return
        if resource.properties is before.properties:  # its service was never called
            self.stack.report_resource(resource, "UPDATE_COMPLETE")
            return
        made = copy.copy(resource)
        if steps.replaces(self.stack, before, resource.properties):
            _restore(resource, before)
            self.stack.report_resource(resource, "UPDATE_COMPLETE")
        else:
            self._update(resource, made, before)
        for one in (made, before):
            if one.physical_id not in ("", resource.physical_id):
                self.todo.leftovers.append(Leftover(one, "Delete"))

    def _update(self, resource: StackResource, made: StackResource, before: StackResource) -> None:
        """Update to the former properties; on a failure, keep the current ones for a later attempt to continue the rollback."""
        try:
            steps.update(self.stack, resource, before.definition, before.properties)
        except BaseException:
            resource.definition, resource.properties = made.definition, made.properties
            raise

    def _drop_new(self) -> None:
        """Hand the resources that the failed update created to the clean-up."""
        for one in self.todo.touched:
            self.stack.resources.pop(one.resource.logical_id, None)
            self.todo.leftovers.append(Leftover(one.resource, _policy_at_creation(one.resource)))
        self.todo.touched = []

    def _finish(self, stuck: list[str]) -> None:
        if stuck:
            self.stack.unfinished = self.todo
            self.stack.report(
                f"{self.todo.verb}_FAILED", f"The following resource(s) failed to {self._deed}: [{', '.join(stuck)}]."
            )
            return
        self.stack.version, self.stack.unfinished = self.todo.version, None
        if not self.todo.first:
            self.stack.report("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS")
            removal.clean_up(self.stack, self.todo.leftovers)
        self.stack.report(f"{self.todo.verb}_COMPLETE")

    @property
    def _deed(self) -> str:
        return "delete" if self.todo.first else "update"


def _restore(resource: StackResource, before: StackResource) -> None:
    resource.definition, resource.properties = before.definition, before.properties
    resource.physical_id, resource.attributes = before.physical_id, before.attributes


def _policy_at_creation(resource: StackResource) -> str:
    """Return the deletion policy of a new resource; one that failed is always deleted."""
    policy = resource.policy("DeletionPolicy")
    failed = resource.status == "CREATE_FAILED"
    return "Delete" if failed or policy == "RetainExceptOnCreate" else policy
