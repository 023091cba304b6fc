"""Write IAM statements in one line: who reads a policy needs its name, its resources and its actions."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_iam as iam

Value = str | Sequence[str]


def allow(sid: str, resources: Value, *actions: str, **conditions: Mapping[str, Value]) -> iam.PolicyStatement:
    """Allow the actions on one resource or several, if the conditions hold: each is an operator with its keys and values."""
    arns = [resources] if isinstance(resources, str) else list(resources)
    return iam.PolicyStatement(sid=sid, actions=list(actions), resources=arns, conditions=conditions or None)
