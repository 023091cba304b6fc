"""Write JSON values as properties of a custom resource, so that `cdk diff` shows each changed field.

CloudFormation sends every number and boolean to the function as text. Here they are JSON texts already, and a string that could
be read as JSON is in quotes. lambda_assets/cluster_resource/property_values.py reads them.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]
TOKEN = re.compile(r"\$\{Token\[[^]]*\]\}")
"""What CDK replaces by a value of the deployment, which must not be read as a number."""


def named_properties(prefix: str, items: Iterable[tuple[str, Json]]) -> Json:
    """Return a property for each item, with a unique name of letters and digits.

    `cdk diff` prints the content of an added property, but only the name of an added member of a property.
    """
    found: Json = {}
    for name, item in items:
        words = re.split(r"[^A-Za-z0-9]+", TOKEN.sub(" ", name))
        free = plain = prefix + "".join(word[:1].upper() + word[1:] for word in words)
        number = 1
        while free in found:
            number += 1
            free = f"{plain}x{number}"
        found[free] = property_value(item)
    return found


def property_value(value: Any) -> Any:
    """Return the value with scalars as text; a part that CloudFormation or CDK would change becomes a JSON text."""
    if isinstance(value, dict) and value and not any(map(_is_special, value)):
        return {name: property_value(item) for name, item in value.items()}
    if isinstance(value, list) and value:
        return [property_value(item) for item in value]
    return value if isinstance(value, str) and not _could_be_json(value) else json.dumps(value)


def _is_special(name: str) -> bool:
    """Return whether a member makes an object a function of CloudFormation, or has a name that only CDK knows."""
    return name == "Ref" or name.startswith("Fn::") or TOKEN.search(name) is not None


def _could_be_json(text: str) -> bool:
    if TOKEN.search(text):
        return True
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
