"""The deployment of a template to a stack: creation or update."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

from local_aws.clock import host_now
from local_aws.cloudformation import parameters, removal, steps
from local_aws.cloudformation.errors import ResourceError, TemplateError
from local_aws.cloudformation.graph import dependencies
from local_aws.cloudformation.intrinsics import Resolver
from local_aws.cloudformation.outputs import check_exports, evaluate
from local_aws.cloudformation.parallel import Outcome, walk
from local_aws.cloudformation.rollback import Rollback
from local_aws.cloudformation.schemas import schema
from local_aws.cloudformation.scope import Scope, check_attributes
from local_aws.cloudformation.stack import Leftover, Operation, Stack, StackResource, Touched, Unfinished, Version
from local_aws.cloudformation.template import Json, Target, parse


def with_stack_tags(properties: Json, resource_type: str, region: str, tags: Mapping[str, str]) -> Json:
    """Return ``properties`` in their schema's types, with the stack's tags if the type supports tags; its own tags win."""
    described = schema(resource_type, region)
    if described is None:
        return properties
    typed, name = described.typed(properties), described.tag_property
    if name is None or not tags:
        return typed
    own = typed.get(name)
    if described.tags_are_a_map:
        return typed | {name: dict(tags) | (own or {})}
    taken = {tag["Key"] for tag in own or ()}
    return typed | {name: [*(own or ()), *({"Key": key, "Value": value} for key, value in tags.items() if key not in taken)]}


@dataclass
class Deployment:
    """One creation (``first``) or update of a stack."""

    stack: Stack
    target: Target
    first: bool
    touched: list[Touched] = field(default_factory=list)
    leftovers: list[Leftover] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.verb = "CREATE" if self.first else "UPDATE"

    def run(self, operation: Operation) -> None:
        """Create and change the resources, then delete those no longer in the template; on a failure, roll back."""
        before = self.stack.version
        try:
            version, desired = self._deploy(operation.halt)
        except (TemplateError, ResourceError) as error:
            self._fail(operation, before, str(error))
            return
        self.stack.version, self.stack.unfinished = version, None
        if self.first:
            self.stack.report("CREATE_COMPLETE")
            return
        self.stack.updated = host_now()
        self.stack.report("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
        removed = [resource for name, resource in self.stack.resources.items() if name not in desired]
        self.leftovers += [Leftover(resource, resource.policy("DeletionPolicy")) for resource in removed]
        remark = removal.clean_up(self.stack, self.leftovers)
        for resource in removed:
            del self.stack.resources[resource.logical_id]
        self.stack.report("UPDATE_COMPLETE", remark)

    def _deploy(self, halt: Event) -> tuple[Version, Json]:
        template, scope = parse(self.target.body), Scope(self.stack)
        values = parameters.resolve(template, self.target.given, scope.parameter)
        resolver = scope.resolver(template, values)
        check_attributes(self.stack, template, resolver.conditions)
        desired = resolver.conditions.included(template["Resources"])
        outcome = walk(dependencies(desired), lambda name: self._apply(name, desired[name], resolver), halt)
        if outcome.failed or outcome.skipped:
            raise ResourceError(self._summary(outcome))
        outputs = evaluate(template, resolver)
        check_exports(self.stack, outputs)
        version = Version(
            body=self.target.body,
            template=template,
            given=dict(self.target.given),
            parameters=values,
            tags=self.target.tags,
            outputs=outputs,
        )
        return version, desired

    def _apply(self, name: str, definition: Json, resolver: Resolver) -> None:
        def properties() -> Json:
            return with_stack_tags(resolver.properties(definition), definition["Type"], self.stack.region, dict(self.target.tags))

        resource = self.stack.resources.get(name)
        if resource is None or resource.status == "CREATE_FAILED":
            self._create(name, definition, properties, failed=resource)
            return
        before, failed = copy.copy(resource), resource.status == "UPDATE_FAILED"
        touched = Touched(resource, before)
        self._touch(touched)
        desired = steps.desired(self.stack, resource, properties)
        if desired == resource.properties and not failed:
            self._forget(touched)
            resource.definition = definition
            return
        steps.update(self.stack, resource, definition, desired)
        if resource.physical_id != before.physical_id:
            self.leftovers.append(Leftover(before, resource.policy("UpdateReplacePolicy")))

    def _create(self, name: str, definition: Json, properties: Any, failed: StackResource | None) -> None:
        resource = StackResource(name, definition["Type"], definition)
        with self.stack.lock:
            self.stack.resources[name] = resource
        self._touch(Touched(resource, None))
        steps.create(self.stack, resource, properties)
        if failed is not None and failed.physical_id not in ("", resource.physical_id):
            self.leftovers.append(Leftover(failed, "Delete"))

    def _touch(self, touched: Touched) -> None:
        with self.stack.lock:
            self.touched.append(touched)

    def _forget(self, touched: Touched) -> None:
        with self.stack.lock:
            self.touched.remove(touched)

    def _summary(self, outcome: Outcome) -> str:
        """Return the reason for the stack's event: the resources that failed."""
        states = {name: self.stack.resources[name].status for name in sorted(outcome.failed) if name in self.stack.resources}
        texts = []
        for status, what in (("CREATE_FAILED", "create"), ("UPDATE_FAILED", "update")):
            names = [name for name, state in states.items() if state == status]
            if names:
                texts.append(f"The following resource(s) failed to {what}: [{', '.join(names)}].")
        return " ".join(texts) or "The operation was cancelled."

    def _fail(self, operation: Operation, before: Version, reason: str) -> None:
        if operation.cancelled:  # by a deletion, which reports all further events
            return
        unfinished = Unfinished(before, self.first, self.touched)
        if self.stack.disable_rollback:
            self.stack.unfinished = unfinished
            self.stack.version = replace(
                before, body=self.target.body, template=parse(self.target.body), given=dict(self.target.given)
            )
            self.stack.report(f"{self.verb}_FAILED", reason)
            return
        Rollback(self.stack, unfinished).start(operation, f"{reason} Rollback requested by user.")
