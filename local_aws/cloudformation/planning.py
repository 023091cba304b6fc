"""The plan of an update, for a change set: changed resources and properties, and replacements."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from local_aws.cloudformation import parameters
from local_aws.cloudformation.change_sets import PropertyChange, ResourceChange
from local_aws.cloudformation.checks import name_conflict, template_problems
from local_aws.cloudformation.deployment import with_stack_tags
from local_aws.cloudformation.errors import TemplateError
from local_aws.cloudformation.graph import dependencies, order, references
from local_aws.cloudformation.intrinsics import LATER
from local_aws.cloudformation.parameters import check_rules
from local_aws.cloudformation.schemas import changes, replacing, schema
from local_aws.cloudformation.scope import Scope, check_references
from local_aws.cloudformation.stack import Stack, StackResource
from local_aws.cloudformation.template import Json, Target, parse

ATTRIBUTES = ("DeletionPolicy", "UpdateReplacePolicy", "Metadata")


class _PlanScope(Scope):
    """A scope in which attributes of resources that do not exist yet are known later."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack)
        self.unknown: set[str] = set()

    def ref(self, name: str) -> Any:
        return LATER if self._is_open(name) else super().ref(name)

    def attribute(self, name: str, attribute: str) -> Any:
        if self._is_open(name):
            return LATER
        try:
            return super().attribute(name, attribute)
        except TemplateError:  # the attribute may exist only in the new version of a custom resource
            return LATER

    def import_value(self, name: str) -> str:
        try:
            return super().import_value(name)
        except TemplateError:  # only the deployment fails
            return LATER

    def _is_open(self, name: str) -> bool:
        return name in self.unknown or name not in self.stack.resources


@dataclass
class Plan:
    """The changes that bring ``stack`` to ``target``."""

    stack: Stack
    target: Target
    changes: list[ResourceChange] = field(default_factory=list)
    empty: bool = True

    def __post_init__(self) -> None:
        self.template = parse(self.target.body)
        self.scope = _PlanScope(self.stack)
        self.values = parameters.resolve(self.template, self.target.given, self.scope.parameter)
        self.resolver = self.scope.resolver(self.template, self.values)
        self.resolver.conditions.check()
        check_references(self.template, self.resolver.conditions)
        check_rules(self.template, self.resolver.conditions)
        self.desired = self.resolver.conditions.included(self.template["Resources"])
        self._check_types()
        for name in order(dependencies(self.desired)):
            self._plan(name, self.desired[name])
        self._plan_removals()
        self.empty = not self._has_cause()

    def problems(self) -> list[str]:
        """Return what prevents the creation of the resources."""
        region = self.stack.region
        new = [each for each in self.changes if each.action == "Add" and each.logical_id not in self.stack.resources]
        taken = [text for each in new for text in name_conflict(each.type, region, each.after)]
        return template_problems(self.desired, region) + taken

    def _check_types(self) -> None:
        wrong = sorted(name for name, one in self.desired.items() if self._type_before(name) not in (None, one["Type"]))
        if wrong:
            raise TemplateError(
                "Update of resource type is not permitted. The new template modifies resource type of the following resources: "
                f"[{', '.join(wrong)}]"
            )

    def _type_before(self, name: str) -> str | None:
        return self.stack.resources[name].type if name in self.stack.resources else None

    def _plan(self, name: str, definition: Json) -> None:
        properties = with_stack_tags(
            self.resolver.properties(definition), definition["Type"], self.stack.region, dict(self.target.tags)
        )
        resource = self.stack.resources.get(name)
        if resource is None or resource.status == "CREATE_FAILED":
            self.scope.unknown.add(name)
            self.changes.append(ResourceChange("Add", name, definition["Type"], after=properties))
            return
        changed = tuple(self._property_changes(resource, properties))
        attributes = tuple(one for one in ATTRIBUTES if definition.get(one) != resource.definition.get(one))
        if not changed and not attributes and resource.status != "UPDATE_FAILED":
            return
        replacement = _replacement(changed)
        if replacement == "True":
            self.scope.unknown.add(name)
        self.changes.append(
            ResourceChange(
                action="Modify",
                logical_id=name,
                type=resource.type,
                physical_id=resource.physical_id,
                replacement=replacement,
                properties=changed,
                attributes=attributes,
                before=resource.properties,
                after=properties,
                policy=f"ReplaceAnd{_verb(definition.get('UpdateReplacePolicy'))}" if replacement == "True" else "",
            )
        )

    def _property_changes(self, resource: StackResource, properties: Json) -> list[PropertyChange]:
        found = list(changes(resource.properties, properties))
        described = schema(resource.type, self.stack.region)
        marked = replacing(resource.type, self.stack.region, {path for path, _, _ in found})
        maybe = described.conditionally_create_only() if described else set()
        result = []
        for path, before, after in found:
            static = LATER not in str(after)
            recreates = (
                "Always" if path in marked and static else "Conditionally" if path in marked or path[:1] in maybe else "Never"
            )
            result.append(PropertyChange(path, before, after, recreates, static))
        return result

    def _plan_removals(self) -> None:
        for name, resource in self.stack.resources.items():
            if name not in self.desired:
                policy = _verb(resource.definition.get("DeletionPolicy"))
                gone = ResourceChange(
                    "Remove", name, resource.type, resource.physical_id, before=resource.properties, policy=policy
                )
                self.changes.append(gone)

    def _has_cause(self) -> bool:
        """Return whether the template has a reason to update; values that only changed elsewhere are none."""
        before = self.stack.version
        if self.template.get("Outputs") != before.template.get("Outputs") or self.target.tags != before.tags:
            return True
        moved = {name for name in {*self.values, *before.parameters} if self.values.get(name) != before.parameters.get(name)}
        return any(self._is_caused(change, moved) for change in self.changes)

    def _is_caused(self, change: ResourceChange, moved: set[str]) -> bool:
        if change.action != "Modify" or change.attributes:
            return True
        resource, definition = self.stack.resources[change.logical_id], self.desired[change.logical_id]
        same = definition.get("Properties") == resource.definition.get("Properties")
        used = references(definition.get("Properties", {}))
        return (
            not same
            or resource.status == "UPDATE_FAILED"
            or bool(used & (moved | self.scope.unknown))
            or self._conditions_moved()
        )

    def _conditions_moved(self) -> bool:
        sections = ("Conditions", "Mappings")
        return any(self.template.get(section) != self.stack.version.template.get(section) for section in sections)


def _verb(policy: Any) -> str:
    return "Retain" if policy in ("Retain", "RetainExceptOnCreate") else "Delete"


def _replacement(changed: tuple[PropertyChange, ...]) -> str:
    kinds: Mapping[str, bool] = {one.recreates: True for one in changed}
    return "True" if "Always" in kinds else "Conditional" if "Conditionally" in kinds else "False"
