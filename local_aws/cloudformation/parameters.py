"""The values of a template's parameters."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from local_aws.cloudformation.conditions import Conditions
from local_aws.cloudformation.errors import TemplateError
from local_aws.cloudformation.template import Json

SSM = "AWS::SSM::Parameter::Value"


def resolve(template: Json, given: Mapping[str, str], fetch: Callable[[str], str]) -> dict[str, Any]:
    """Return the value of each parameter; ``fetch`` reads one from the parameter store."""
    definitions = template.get("Parameters", {})
    unknown = [name for name in given if name not in definitions]
    if unknown:
        raise TemplateError(f"Parameters: [{', '.join(unknown)}] do not exist in the template")
    missing = [name for name, definition in definitions.items() if name not in given and "Default" not in definition]
    if missing:
        raise TemplateError(f"Parameters: [{', '.join(missing)}] must have values")
    return {
        name: _value(name, definition, given.get(name, definition.get("Default")), fetch)
        for name, definition in definitions.items()
    }


def _value(name: str, definition: Json, given: Any, fetch: Callable[[str], str]) -> Any:
    kind, text = definition.get("Type", "String"), _text(given)
    _check(name, definition, text)
    if kind.startswith(SSM):
        kind, text = kind.removeprefix(SSM).strip("<>"), fetch(text)
    if kind == "CommaDelimitedList" or kind.startswith("List<"):
        return [item.strip() for item in text.split(",")]
    if kind == "Number":
        _check_number(name, definition, text)
    return text


def _text(given: Any) -> str:
    return str(given).lower() if isinstance(given, bool) else str(given)


def _check(name: str, definition: Json, text: str) -> None:
    allowed = [_text(item) for item in definition.get("AllowedValues", [text])]
    if text not in allowed:
        raise TemplateError(f"Parameter '{name}' must be one of AllowedValues")
    if "AllowedPattern" in definition and not re.fullmatch(definition["AllowedPattern"], text):
        hint = definition.get("ConstraintDescription", f"must match pattern {definition['AllowedPattern']}")
        raise TemplateError(f"Parameter '{name}' failed to satisfy constraint: {hint}")
    shortest, longest = int(definition.get("MinLength", 0)), int(definition.get("MaxLength", 4096))
    if not shortest <= len(text) <= longest:
        raise TemplateError(f"Parameter '{name}' must contain {shortest} to {longest} characters, got {len(text)}")


def _check_number(name: str, definition: Json, text: str) -> None:
    try:
        number = float(text)
    except ValueError:
        raise TemplateError(f"Parameter '{name}' must be a number.") from None
    if not float(definition.get("MinValue", number)) <= number <= float(definition.get("MaxValue", number)):
        raise TemplateError(f"Parameter '{name}' is out of its bounds, got {text}")


def shown(template: Json, given: Mapping[str, str], values: Mapping[str, Any]) -> list[Json]:
    """Return the parameters as stacks and change sets show them: without those that the template hides."""
    return [_shown(name, definition, given, values) for name, definition in template.get("Parameters", {}).items()]


def _shown(name: str, definition: Json, given: Mapping[str, str], values: Mapping[str, Any]) -> Json:
    text = "****" if definition.get("NoEcho") else given.get(name, str(definition.get("Default", "")))
    entry = {"ParameterKey": name, "ParameterValue": text}
    return entry | ({"ResolvedValue": str(values.get(name, ""))} if str(definition.get("Type", "")).startswith(SSM) else {})


def check_rules(template: Json, conditions: Conditions) -> None:
    """Refuse parameters that violate the template's Rules."""
    for rule in template.get("Rules", {}).values():
        if "RuleCondition" in rule and not conditions.evaluate(rule["RuleCondition"]):
            continue
        for assertion in rule["Assertions"]:
            if not conditions.evaluate(assertion["Assert"]):
                raise TemplateError(f"Template validation error: {assertion.get('AssertDescription', 'a rule is not met')}")
