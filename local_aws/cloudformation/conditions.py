"""The Conditions section of a template."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from local_aws.cloudformation.errors import TemplateError
from local_aws.cloudformation.template import Json

MOST = 10
NUMBERS = {"Fn::And": (2, MOST), "Fn::Contains": (2, 2), "Fn::Equals": (2, 2), "Fn::Not": (1, 1), "Fn::Or": (2, MOST)}
"""How many arguments a condition function takes."""


@dataclass
class Conditions:
    """The conditions of a template; ``value`` evaluates the values that they compare."""

    definitions: Json
    value: Callable[[Any], Any]
    known: dict[str, bool] = field(default_factory=dict)

    def holds(self, name: str) -> bool:
        """Return whether the condition ``name`` is true."""
        if name not in self.definitions:
            raise TemplateError(f"Template error: Unresolved condition dependency {name}")
        if name not in self.known:
            self.known[name] = self.evaluate(self.definitions[name])
        return self.known[name]

    def check(self) -> None:
        """Refuse a condition that cannot be evaluated, used or not."""
        for name in self.definitions:
            self.holds(name)

    def chosen(self, value: Any) -> Any:
        """Return ``value`` with the branch of each Fn::If that its condition chooses."""
        if isinstance(value, list):
            return [self.chosen(item) for item in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {"Fn::If"}:
            return self.chosen(self.branch(value["Fn::If"]))
        return {key: self.chosen(item) for key, item in value.items()}

    def branch(self, argument: Any) -> Any:
        """Return the branch of an Fn::If that its condition chooses."""
        if not isinstance(argument, list) or len(argument) != 3:
            raise TemplateError("Template error: every Fn::If object requires the name of a condition and two values")
        name, yes, no = argument
        return yes if self.holds(name) else no

    def evaluate(self, expression: Json) -> bool:
        """Return whether the condition function ``expression`` is true."""
        ((function, argument),) = expression.items()
        fewest, most = NUMBERS.get(function, (0, MOST))
        if isinstance(argument, list) and not fewest <= len(argument) <= most:
            number = f"{fewest} to {most} parameters" if fewest < most else f"a list of {fewest}"
            raise TemplateError(f"Template error: every {function} object requires {number}")
        match function:
            case "Condition":
                return self.holds(argument)
            case "Fn::Equals":
                left, right = (self.value(item) for item in argument)
                return str(left) == str(right)
            case "Fn::Not":
                return not self.evaluate(argument[0])
            case "Fn::And":
                return all(self.evaluate(item) for item in argument)
            case "Fn::Or":
                return any(self.evaluate(item) for item in argument)
            case "Fn::Contains":
                items, item = (self.value(part) for part in argument)
                return str(item) in [str(one) for one in items]
        raise TemplateError(f"not part of the embedded AWS: condition function {function}")

    def included(self, parts: Json) -> Json:
        """Return the ``parts`` (resources or outputs) without a condition or with one that is true."""
        return {name: part for name, part in parts.items() if "Condition" not in part or self.holds(part["Condition"])}
