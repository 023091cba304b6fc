"""Acknowledge cdk-nag findings, beside the resource concerned."""

import json
from collections.abc import Mapping

import aws_cdk as cdk
from constructs import IConstruct


def acknowledge(construct: IConstruct, rule: str, reason: str) -> None:
    """Acknowledge a finding of an AwsSolutions rule such as ``S1``, with a reason that a reviewer can check."""
    cdk.Validations.of(construct).acknowledge(cdk.Acknowledgment(id=f"AwsSolutions-{rule}", reason=reason))


def acknowledge_wildcards(construct: IConstruct, reasons: Mapping[str, str]) -> None:
    """Acknowledge wildcard resources of a policy, by resource (which may contain tokens) and reason."""
    resolved = cdk.Stack.of(construct).resolve(list(reasons))
    rules = [
        cdk.Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{_in_finding_id(resource)}]", reason=reason)
        for resource, reason in zip(resolved, reasons.values(), strict=True)
    ]
    cdk.Validations.of(construct).acknowledge(*rules)


def _in_finding_id(resolved: object) -> str:
    """Return the resource as cdk-nag writes it into finding ids."""
    match resolved:
        case {"Fn::Join": [str(separator), list(items)]}:
            return separator.join(map(_in_finding_id, items))
        case {"Fn::GetAtt": [str(resource), str(attribute)]}:
            return f"<{resource}.{attribute}>"
        case {"Ref": str(name)}:
            return f"<{name}>"
        case {"Fn::Sub": str(text)}:
            return text.replace("${", "<").replace("}", ">")
        case {"Fn::GetStackOutput": _}:
            return json.dumps(resolved, separators=(",", ":"))
    return str(resolved)
