"""Find constructs that aws-cdk-lib defines itself and offers no API for."""

from importlib.metadata import version
from typing import TypeVar

import aws_cdk as cdk
from constructs import Construct, IConstruct

# The release whose internal ids this project knows: that of requirements.txt.
CDK_VERSION = "2.275.0"

Kind = TypeVar("Kind", bound=Construct)


class CdkInternalsError(Exception):
    """The installed aws-cdk-lib defines no such construct."""


def find_internal(scope: Construct, kind: type[Kind], *path: str) -> Kind:
    """Return the construct at ``path`` in the stack; fail with the required aws-cdk-lib version if it does not exist."""
    stack = cdk.Stack.of(scope)
    found: IConstruct | None = stack
    for child in path:
        found = found.node.try_find_child(child) if found else None
    if isinstance(found, kind):
        return found
    raise CdkInternalsError(
        f"{stack.stack_name}: aws-cdk-lib {version('aws-cdk-lib')} does not define {'/'.join(path)}; "
        f"install aws-cdk-lib {CDK_VERSION}, the version that this project requires"
    )
