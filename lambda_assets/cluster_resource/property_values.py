"""Read the values of properties with their types.

CloudFormation sends every number and boolean to a custom resource as text. cluster_request/property_values.py writes the values.
"""

import json
from typing import Any


def typed(value: Any) -> Any:
    """Return the value with its types: a text that is JSON is the value of the JSON, and another text is itself."""
    if isinstance(value, dict):
        return {name: typed(item) for name, item in value.items()}
    if isinstance(value, list):
        return [typed(item) for item in value]
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value, parse_constant=_refuse)
    except ValueError:
        return value


def _refuse(name: str) -> None:
    """Refuse NaN and Infinity, which Python reads and JSON does not have."""
    raise ValueError(name)
