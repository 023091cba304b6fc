"""Acknowledging a finding of cdk-nag beside the resource that it is about."""

from collections.abc import Mapping

import aws_cdk as cdk
from constructs import IConstruct


def acknowledge(construct: IConstruct, rule: str, reason: str) -> None:
    """Acknowledge one finding of the AwsSolutions rules, as in ``S1``, with a reason that a reviewer can check."""
    cdk.Validations.of(construct).acknowledge(cdk.Acknowledgment(id=f"AwsSolutions-{rule}", reason=reason))


def acknowledge_wildcards(construct: IConstruct, reasons: Mapping[str, str]) -> None:
    """Acknowledge the wildcard in each resource of a policy, which may hold tokens, with its reason."""
    resolved = cdk.Stack.of(construct).resolve(list(reasons))
    rules = [
        cdk.Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{_as_cdk_nag_writes(resource)}]", reason=reason)
        for resource, reason in zip(resolved, reasons.values(), strict=True)
    ]
    cdk.Validations.of(construct).acknowledge(*rules)


def _as_cdk_nag_writes(resolved: object) -> str:
    match resolved:
        case {"Fn::Join": [str(separator), list(items)]}:
            return separator.join(map(_as_cdk_nag_writes, items))
        case {"Fn::GetAtt": [str(resource), str(attribute)]}:
            return f"<{resource}.{attribute}>"
        case {"Ref": str(name)}:
            return f"<{name}>"
        case {"Fn::Sub": str(text)}:
            return text.replace("${", "<").replace("}", ">")
    return str(resolved)
