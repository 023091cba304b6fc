"""The deletion of resources: those that an update leaves behind, and whole stacks."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from local_aws.clock import host_now
from local_aws.cloudformation import steps, store
from local_aws.cloudformation.graph import Graph, depends_on, references, reverse
from local_aws.cloudformation.parallel import Outcome, walk
from local_aws.cloudformation.scope import importers
from local_aws.cloudformation.stack import Leftover, Operation, Stack, StackResource

CLEAN_UPS = 3
NOT_DELETED = "Update successful. One or more resources could not be deleted."


def remove(stack: Stack, leftovers: Sequence[Leftover]) -> Outcome:
    """Delete resources in parallel, each after all that depend on it; a failure keeps only the resources that it depends on."""
    by_key = {f"{index}": leftover for index, leftover in enumerate(leftovers)}

    def work(key: str) -> None:
        steps.delete(stack, by_key[key].resource, by_key[key].policy)

    return walk(_removal_graph(by_key), work, stack.operation.halt, keep_going=True)


def clean_up(stack: Stack, leftovers: Sequence[Leftover]) -> str:
    """Delete what an update left behind, in up to three attempts; return the text for the stack's event after the last one.

    As on AWS, a failure fails nothing: the resources then exist outside the stack. See "Update behaviors of stack resources".
    """
    for _ in range(CLEAN_UPS):
        outcome = remove(stack, leftovers)
        leftovers = [leftovers[int(key)] for key in sorted((*outcome.failed, *outcome.skipped), key=int)]
        if not leftovers or stack.operation.halt.is_set():
            break
    return NOT_DELETED if leftovers else ""


def _removal_graph(leftovers: dict[str, Leftover]) -> Graph:
    keys = defaultdict(set)
    for key, leftover in leftovers.items():
        keys[leftover.resource.logical_id].add(key)
    needs: Graph = {}
    for key, leftover in leftovers.items():
        definition = leftover.resource.definition
        names = references(definition.get("Properties", {})) | depends_on(definition)
        needs[key] = {other for name in names for other in keys.get(name, ())} - {key}
    return reverse(needs)


@dataclass
class Deletion:
    """The deletion of a stack; ``retain`` names resources to keep, ``force`` keeps those that cannot be deleted."""

    stack: Stack
    retain: frozenset[str] = frozenset()
    force: bool = False
    instead_of: Operation | None = None  # a cancelled operation, which must have ended first

    def run(self, _: Operation) -> None:
        """Delete all resources, then the stack itself."""
        if self.instead_of is not None:
            self.instead_of.ended.wait()
        leftovers = [Leftover(resource, self._policy(resource)) for resource in self.stack.resources.values()]
        outcome = remove(self.stack, leftovers)
        kept = {leftovers[int(key)].resource.logical_id for key in (*outcome.failed, *outcome.skipped)}
        failed = sorted(leftovers[int(key)].resource.logical_id for key in outcome.failed)
        for name in [name for name in self.stack.resources if name not in kept]:
            del self.stack.resources[name]
        if failed and not self.force:
            self.stack.report("DELETE_FAILED", f"The following resource(s) failed to delete: [{', '.join(failed)}]. ")
            return
        self.stack.deleted = host_now()
        self.stack.report("DELETE_COMPLETE")
        store.forget(self.stack)

    def _policy(self, resource: StackResource) -> str:
        return "Retain" if resource.logical_id in self.retain else resource.policy("DeletionPolicy")


def exports_in_use(stack: Stack) -> str:
    """Return why the stack's exports prevent its deletion, or an empty text."""
    for output in stack.version.outputs:
        users = importers(stack, output["ExportName"]) if "ExportName" in output else []
        if users:
            return f"Delete canceled. Cannot delete export {output['ExportName']} as it is in use by {', '.join(users)}."
    return ""
