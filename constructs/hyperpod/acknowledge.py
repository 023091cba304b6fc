"""Findings that are right as they are, each with the reason beside its resource."""

from collections.abc import Mapping

from aws_cdk import Acknowledgment, Aws, CfnElement, Stack, Validations
from constructs import IConstruct


def acknowledge(construct: IConstruct, findings: Mapping[str, str]) -> None:
    """Accept ``findings`` (full id to reason) of cdk-nag for ``construct`` and all below it."""
    rules = [Acknowledgment(id=finding, reason=reason) for finding, reason in findings.items()]
    Validations.of(construct).acknowledge(*rules)


def acknowledge_wildcards(construct: IConstruct, wildcards: Mapping[str, str]) -> None:
    """Accept actions (``s3:List*``) and resources with wildcards in the policies of ``construct``, each with its reason."""
    acknowledge(construct, {f"AwsSolutions-IAM5[{_subject(wildcard)}]": reason for wildcard, reason in wildcards.items()})


def attribute(resource: IConstruct, name: str) -> str:
    """An attribute of a resource as cdk-nag writes it: ``<LogicalId.Name>``."""
    element = resource.node.default_child
    if not isinstance(element, CfnElement):
        raise TypeError(f"expected a construct around one resource, got {resource!r}")
    return f"<{Stack.of(resource).get_logical_id(element)}.{name}>"


def _subject(wildcard: str) -> str:
    """What cdk-nag found: an action has one colon, an ARN more; pseudo parameters stand in angle brackets."""
    for parameter in ("Partition", "Region", "AccountId"):
        token = {"Partition": Aws.PARTITION, "Region": Aws.REGION, "AccountId": Aws.ACCOUNT_ID}[parameter]
        wildcard = wildcard.replace(token, f"<AWS::{parameter}>")
    kind = "Action" if wildcard.count(":") == 1 else "Resource"
    return f"{kind}::{wildcard}"
