"""The intrinsic functions of templates."""

import base64
import ipaddress
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from local_aws.cloudformation.conditions import Conditions
from local_aws.cloudformation.errors import TemplateError
from local_aws.cloudformation.graph import PLACEHOLDER
from local_aws.cloudformation.template import Json

DYNAMIC = re.compile(r"\{\{resolve:([^:}]+):([^}]+)\}\}")
NO_VALUE = object()
# A plan's placeholder for a value that is unknown until the resource exists, in CloudFormation's own words.
LATER = "{{changeSet:KNOWN_AFTER_APPLY}}"


@dataclass(frozen=True)
class Surroundings:
    """The sources of values outside the template."""

    pseudo: Mapping[str, Any]
    parameters: Mapping[str, Any]
    ref: Callable[[str], Any]
    attribute: Callable[[str, str], Any]
    import_value: Callable[[str], Any]
    stack_output: Callable[[Json], Any]
    zones: Callable[[str], list[str]]
    dynamic: Callable[[str, str], str]


@dataclass
class Resolver:
    """Evaluates the expressions of a template."""

    template: Json
    around: Surroundings
    conditions: Conditions = field(init=False)

    def __post_init__(self) -> None:
        self.conditions = Conditions(self.template.get("Conditions", {}), self.value)

    def value(self, expression: Any) -> Any:
        """Return the value of ``expression``, with all functions evaluated."""
        if isinstance(expression, list):
            return [item for item in map(self.value, expression) if item is not NO_VALUE]
        if isinstance(expression, str):
            return DYNAMIC.sub(lambda found: self.around.dynamic(*found.groups()), expression)
        if not isinstance(expression, dict):
            return expression
        if len(expression) == 1:
            ((name, argument),) = expression.items()
            if name == "Ref" or name.startswith("Fn::"):
                return self._call(name, argument)
        values = {key: self.value(item) for key, item in expression.items()}
        return {key: item for key, item in values.items() if item is not NO_VALUE}

    def properties(self, definition: Json) -> Json:
        """Return the values of a resource's properties."""
        values = self.value(definition.get("Properties") or {})
        if not isinstance(values, dict):
            raise TemplateError("Template format error: the Properties of a resource must be an object")
        return values

    def _call(self, name: str, argument: Any) -> Any:
        if name not in FUNCTIONS:
            raise TemplateError(f"not part of the embedded AWS: {name}")
        value = FUNCTIONS[name](self, argument)
        return self.value(value) if isinstance(value, str) else value  # a dynamic reference may be assembled by functions

    def ref(self, name: str) -> Any:
        """Return the value of ``{"Ref": name}``."""
        if name == "AWS::NoValue":
            return NO_VALUE
        if name in self.around.pseudo:
            return self.around.pseudo[name]
        if name in self.around.parameters:
            return self.around.parameters[name]
        return self.around.ref(name)

    def get_attribute(self, argument: Any) -> Any:
        """Return the value of ``{"Fn::GetAtt": argument}``."""
        name, attribute = argument.split(".", 1) if isinstance(argument, str) else argument
        return self.around.attribute(name, self.value(attribute))

    def substitute(self, argument: Any) -> str:
        """Return the value of ``{"Fn::Sub": argument}``."""
        text, given = (argument, {}) if isinstance(argument, str) else argument
        values = {name: self.value(item) for name, item in given.items()}

        def one(found: re.Match[str]) -> str:
            name = found.group(1).strip()
            if name in values:
                return _text(values[name])
            in_resource = "." in name and "::" not in name
            return _text(self.get_attribute(name) if in_resource else self.ref(name))

        return PLACEHOLDER.sub(one, text).replace("${!", "${")

    def choose(self, argument: Any) -> Any:
        """Return the value of ``{"Fn::If": argument}``."""
        return self.value(self.conditions.branch(argument))

    def find_in_map(self, argument: Any) -> Any:
        """Return the value of ``{"Fn::FindInMap": argument}``."""
        name, first, second = (self.value(item) for item in argument[:3])
        try:
            return self.template["Mappings"][name][first][second]
        except KeyError:
            if len(argument) > 3 and "DefaultValue" in argument[3]:
                return self.value(argument[3]["DefaultValue"])
            raise TemplateError(f"Template error: Unable to get mapping for {name}::{first}::{second}") from None

    def select(self, argument: Any) -> Any:
        """Return the value of ``{"Fn::Select": argument}``."""
        index, items = int(self.value(argument[0])), self.value(argument[1])
        if LATER in str(items):
            return LATER
        if not 0 <= index < len(items):
            raise TemplateError(f"Template error: Fn::Select cannot select nonexistent value at index {index}")
        return items[index]

    def cidr(self, argument: Any) -> list[str]:
        """Return the value of ``{"Fn::Cidr": argument}``."""
        block, count, *rest = (self.value(item) for item in argument)
        bits = int(rest[0]) if rest else 8
        if LATER in str(block):
            return [LATER] * int(count)
        nets = ipaddress.ip_network(block).subnets(new_prefix=32 - bits)
        return [str(net) for net, _ in zip(nets, range(int(count)), strict=False)]

    def join(self, argument: Any) -> str:
        """Return the value of ``{"Fn::Join": argument}``."""
        separator, items = argument
        return str(separator).join(_text(item) for item in self.value(items))


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


FUNCTIONS: dict[str, Callable[[Resolver, Any], Any]] = {
    "Ref": Resolver.ref,
    "Fn::Base64": lambda resolver, argument: base64.b64encode(resolver.value(argument).encode()).decode(),
    "Fn::Cidr": Resolver.cidr,
    "Fn::FindInMap": Resolver.find_in_map,
    "Fn::GetAZs": lambda resolver, argument: resolver.around.zones(resolver.value(argument)),
    "Fn::GetAtt": Resolver.get_attribute,
    "Fn::GetStackOutput": lambda resolver, argument: resolver.around.stack_output(resolver.value(argument)),
    "Fn::If": Resolver.choose,
    "Fn::ImportValue": lambda resolver, argument: resolver.around.import_value(resolver.value(argument)),
    "Fn::Join": Resolver.join,
    "Fn::Length": lambda resolver, argument: len(resolver.value(argument)),
    "Fn::Select": Resolver.select,
    "Fn::Split": lambda resolver, argument: resolver.value(argument[1]).split(argument[0]),
    "Fn::Sub": Resolver.substitute,
    "Fn::ToJsonString": lambda resolver, argument: json.dumps(resolver.value(argument), separators=(",", ":")),
}
