"""The cluster that the file's own stack has, and why a deployment of the file would then take over no other."""

from typing import Any

from config.model import Implementation
from ops.deployment import Deployment
from ops.resource_code import Cluster, Owner

OURS = "Custom::HyperPodCluster"
NATIVE = "AWS::SageMaker::Cluster"
GONE = ("DELETE_COMPLETE", "DELETE_SKIPPED")
TO_BE_MADE = ("CREATE_FAILED", "CREATE_IN_PROGRESS")

_LET_GO = (
    "let the stack go of that one first, in deployments of their own: `removal: retain`, then `implementation: none`, then this"
)


def resources(deployment: Deployment, *kinds: str) -> list[dict[str, Any]]:
    """The resources of these types that the file's Cluster stack has; none where there is no such stack."""
    if not any(stack.name.endswith("-Cluster") for stack in deployment.stacks()):
        return []
    found = deployment.resources("Cluster")
    return [each for each in found if each["ResourceType"] in kinds and each["ResourceStatus"] not in GONE]


def obstacle(deployment: Deployment, cluster: Cluster) -> str:
    """Why a deployment would not come to the Create that takes a cluster over; empty where it would, or need not."""
    implementation = deployment.config.implementation
    if implementation is not Implementation.CUSTOM_RESOURCE:
        native = ", or bring it in by `cdk import` (docs/custom-resource.md)" if implementation is Implementation.NATIVE else ""
        return f"`implementation: {implementation.value}` takes over no cluster; set `implementation: custom_resource`{native}"
    for each in resources(deployment, OURS, NATIVE):
        is_own = cluster.owner == Owner(each["StackId"], each["LogicalResourceId"])
        if each["ResourceStatus"] in TO_BE_MADE or (each["ResourceType"] == OURS and is_own):
            continue
        return f"its stack has cluster {each['PhysicalResourceId']} already, and {_why(each, cluster)}; {_LET_GO}"
    return ""


def _why(resource: dict[str, Any], cluster: Cluster) -> str:
    if resource["ResourceType"] == NATIVE:
        return "CloudFormation puts no custom resource in the place of a native one"
    if resource["PhysicalResourceId"] == cluster.name:
        return "an update does not put back the tags of ownership that it has lost"
    return "an update takes over no other"
