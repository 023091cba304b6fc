"""The values that a stack's template can refer to: its own resources, other stacks, the parameter store."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from local_aws.cloudformation import clients, store
from local_aws.cloudformation.conditions import Conditions
from local_aws.cloudformation.errors import ResourceError, TemplateError
from local_aws.cloudformation.graph import depends_on, references, uses
from local_aws.cloudformation.intrinsics import Resolver, Surroundings
from local_aws.cloudformation.resources.custom import is_custom
from local_aws.cloudformation.schemas import has_attribute
from local_aws.cloudformation.stack import Stack, StackResource
from local_aws.cloudformation.template import Json

URL_SUFFIX = "amazonaws.com"
PARTS = (("Resources", "Properties"), ("Outputs", "Value"))  # where a template refers to resources


class Scope:
    """The values that a template of ``stack`` can refer to."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack

    def resolver(self, template: Json, parameters: Mapping[str, Any]) -> Resolver:
        """Return a resolver for ``template`` in this scope."""
        around = Surroundings(
            pseudo=self._pseudo(),
            parameters=parameters,
            ref=self.ref,
            attribute=self.attribute,
            import_value=self.import_value,
            stack_output=self._stack_output,
            zones=self._zones,
            dynamic=self._dynamic,
        )
        return Resolver(template, around)

    def parameter(self, name: str) -> str:
        """Return a value from the parameter store."""
        try:
            return str(clients.client("ssm", self.stack.region).get_parameter(Name=name)["Parameter"]["Value"])
        except ClientError as error:
            raise TemplateError(f"Unable to fetch parameters [{name}] from parameter store for this account.") from error

    def ref(self, name: str) -> Any:
        """Return the physical id of a resource of the stack."""
        return self._resource(name).physical_id

    def attribute(self, name: str, attribute: str) -> Any:
        """Return an attribute of a resource of the stack."""
        resource = self._resource(name)
        value: Any = resource.attributes
        if attribute in resource.attributes:
            return value[attribute]
        for part in attribute.split("."):
            if not isinstance(value, dict) or part not in value:
                raise TemplateError(_no_attribute(resource, attribute))
            value = value[part]
        return value

    def _resource(self, name: str) -> StackResource:
        if name not in self.stack.resources:
            raise TemplateError(
                f"Template format error: Unresolved resource dependencies [{name}] in the Resources block of the template"
            )
        return self.stack.resources[name]

    def _pseudo(self) -> Json:
        return {
            "AWS::AccountId": self.stack.account,
            "AWS::NotificationARNs": [],
            "AWS::Partition": "aws",
            "AWS::Region": self.stack.region,
            "AWS::StackId": self.stack.id,
            "AWS::StackName": self.stack.name,
            "AWS::URLSuffix": URL_SUFFIX,
        }

    def import_value(self, name: str) -> str:
        """Return the value of an export."""
        for _, output in exports(self.stack):
            if output["ExportName"] == name:
                return str(output["OutputValue"])
        raise TemplateError(f"No export named {name} found.")

    def _stack_output(self, argument: Json) -> str:
        """Return the current value of another stack's output; other accounts are not supported."""
        if set(argument) - {"StackName", "OutputName", "Region"}:
            raise TemplateError(f"not part of the embedded AWS: Fn::GetStackOutput with {sorted(argument)}")
        name, output, region = argument["StackName"], argument["OutputName"], argument.get("Region", self.stack.region)
        stacks = store.live(self.stack.account, region)
        if name not in stacks:
            raise TemplateError(f"Fn::GetStackOutput: stack {name} does not exist in {region}")
        for one in stacks[name].version.outputs:
            if one["OutputKey"] == output:
                return str(one["OutputValue"])
        raise TemplateError(f"Fn::GetStackOutput: stack {name} has no output {output}")

    def _zones(self, region: str) -> list[str]:
        answer = clients.client("ec2", region or self.stack.region).describe_availability_zones()
        return sorted(zone["ZoneName"] for zone in answer["AvailabilityZones"])

    def _dynamic(self, service: str, rest: str) -> str:
        if service != "ssm":
            raise TemplateError(f"not part of the embedded AWS: dynamic references to {service}")
        return self.parameter(rest)


def _no_attribute(resource: StackResource, attribute: str) -> str:
    if is_custom(resource.type):
        where = f"{attribute} attribute in object {resource.physical_id}"
        return f"CustomResource attribute error: Vendor response doesn't contain {where}"
    return f"Requested attribute {attribute} does not exist in schema for {resource.type}"


def exports(stack: Stack) -> list[tuple[Stack, Json]]:
    """Return all exports in the region of ``stack``, each with its stack."""
    stacks = store.live(stack.account, stack.region).values()
    return [(one, output) for one in list(stacks) for output in one.version.outputs if "ExportName" in output]


def importers(stack: Stack, export: str) -> list[str]:
    """Return the names of the stacks that import ``export``."""
    others = [other for other in store.live(stack.account, stack.region).values() if other is not stack]
    return sorted(other.name for other in others if export in imported(other))


def imported(stack: Stack) -> set[str]:
    """Return the names of the exports that ``stack`` uses."""
    resolver = Scope(stack).resolver(stack.version.template, stack.version.parameters)
    sections = [stack.version.template.get(section) for section in ("Resources", "Outputs")]
    return {str(resolver.value(name)) for name in _imports(sections)}


def _imports(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [name for item in value for name in _imports(item)]
    if not isinstance(value, dict):
        return []
    own = [value["Fn::ImportValue"]] if "Fn::ImportValue" in value else []
    return own + [name for item in value.values() for name in _imports(item)]


def check_references(template: Json, conditions: Conditions) -> None:
    """Refuse references to what the template does not define, or leaves out by its conditions."""
    parameters, resources = {*template.get("Parameters", {})}, template["Resources"]
    defined, included = {*resources} | parameters, {*conditions.included(resources)} | parameters
    for section, part in PARTS:
        definitions = template.get(section) or {}
        used = conditions.chosen(conditions.included(definitions))
        names = {name for one in definitions.values() for name in references(one.get(part)) | depends_on(one)} - defined
        names |= {name for one in used.values() for name in references(one.get(part))} - included
        wrong = sorted(name for name in names if not name.startswith("AWS::"))
        if wrong:
            unresolved = f"Unresolved resource dependencies [{', '.join(wrong)}]"
            raise TemplateError(f"Template format error: {unresolved} in the {section} block of the template")


def check_attributes(stack: Stack, template: Json, conditions: Conditions) -> None:
    """Refuse attributes that a type does not have, in the words of AWS."""
    resources = conditions.included(template["Resources"])
    for section, part in PARTS:
        for name, definition in conditions.chosen(conditions.included(template.get(section) or {})).items():
            for used, attribute in uses(definition.get(part)):
                kind = resources[used]["Type"] if used in resources else ""
                if kind and attribute not in (None, "*") and not has_attribute(kind, stack.region, str(attribute)):
                    where = f"/{section}/{name}/{part}/Fn::GetAtt"
                    raise ResourceError(f"[Error] {where}: Resource type {kind} does not support attribute {{{attribute}}}.")
