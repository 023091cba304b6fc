"""Convert templates to YAML that is easy to review."""

import json
import re
from typing import Any

import yaml

from cli.import_cluster.commented_yaml import Dumper

# Parts that the CDK adds to every template.
BOILERPLATE = {"Parameters": ["BootstrapVersion"], "Rules": ["CheckBootstrapVersion"]}
ASSET_HASH = re.compile(r"\b[0-9a-f]{64}\b")
BUNDLE_HASH = re.compile(r"\blifecycle/[0-9a-f]{16}/")
REQUEST_HASH = re.compile(r'("Trigger": )"[0-9a-f]{16}"')
QUOTED_FUNCTION = re.compile(r"(!(?:Ref|GetAtt|GetStackOutput)) '([\w.:-]+)'")
LONG_LINE = 130


class Function:
    """A CloudFormation function in its short form: ``!Ref Vpc``."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    def __str__(self) -> str:
        """Return the form inside a longer text."""
        return f"${{{self.text}}}" if self.name != "Sub" else self.text


class _Dumper(Dumper):
    """Writes long text and CloudFormation's functions so that a difference shows their changed lines."""


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


def _represent_function(dumper: yaml.SafeDumper, value: Function) -> yaml.ScalarNode:
    return dumper.represent_scalar(f"!{value.name}", value.text, style="|" if "\n" in value.text else None)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(Function, _represent_function)


def readable(template: str) -> str:
    """Return the template as YAML, with placeholders for hashes that change with each edit of a packaged file."""
    without = BUNDLE_HASH.sub("lifecycle/BUNDLE-HASH/", ASSET_HASH.sub("ASSET-HASH", template))
    content: dict[str, Any] = json.loads(REQUEST_HASH.sub(r'\1"REQUEST-HASH"', without))
    for section, names in BOILERPLATE.items():
        for name in names:
            content.get(section, {}).pop(name, None)
    for resource in content["Resources"].values():
        # The construct path repeats the logical ID.
        if resource.get("Metadata", {}).keys() == {"aws:cdk:path"}:
            resource.pop("Metadata")
    kept = {section: _shortened(value) for section, value in content.items() if value}
    text = yaml.dump(kept, Dumper=_Dumper, sort_keys=False, width=LONG_LINE, allow_unicode=True)
    # PyYAML quotes values with a tag.
    return QUOTED_FUNCTION.sub(r"\1 \2", text)


def _shortened(value: Any) -> Any:  # noqa: PLR0911  one for each function of CloudFormation
    """Return the value with functions in their short form and embedded JSON on several lines."""
    match value:
        case {"Ref": str(name), **rest} if not rest:
            return Function("Ref", name)
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            return Function("GetAtt", f"{name}.{attribute}")
        case {"Fn::GetStackOutput": {"StackName": str(stack), "OutputName": str(name)}}:
            return Function("GetStackOutput", f"{stack}.{name}")
        case {"Fn::Sub": str(text)}:
            return Function("Sub", text)
        case {"Fn::Join": ["", list(parts)]}:
            return Function("Sub", _opened("".join(str(_shortened(part)) for part in parts)))
        case dict():
            return {key: _shortened(item) for key, item in value.items()}
        case list():
            return [_shortened(item) for item in value]
    return value


def _opened(text: str) -> str:
    """Return the definition of a state machine as indented JSON, and any other text unchanged."""
    return json.dumps(json.loads(text), indent=2) if text.startswith('{"StartAt"') else text
