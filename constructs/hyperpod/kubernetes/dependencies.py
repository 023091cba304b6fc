"""Define the objects that HyperPod needs in the EKS cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from constructs import Construct

from constructs.hyperpod.cluster.cluster_provider import ClusterProvider
from constructs.hyperpod.cluster.resource_function import Placement
from constructs.hyperpod.kubernetes.access_entries import cluster_admin
from constructs.hyperpod.statement import allow

STEP_PACKAGE = "kubernetes_resource"
INVENTORY = "hyperpod"

# Increase it with each new attribute: CloudFormation knows only the attributes of the last response, and a new version causes
# another one. Functions of every release ignore it; resources without a version have no `KeptObjects`.
PROPERTIES_VERSION = "2"


class Dependencies(Construct):
    """Define the objects as a custom resource, with a provider whose step function is an administrator of the EKS cluster.

    docs/adr/0012-objects-in-eks.md says why not as a Helm chart. ``placement`` puts the step function where it reaches the API
    server; ``identity`` changes with the values behind references to other stacks in the objects.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        cluster_name: str,
        objects: Mapping[str, Any],
        identity: str,
        placement: Placement | None,
        alarm_topic_arn: str | None,
    ) -> None:
        super().__init__(scope, id)
        provider = ClusterProvider(
            self, "Provider", alarm_topic_arn=alarm_topic_arn, step_package=STEP_PACKAGE, step_placement=placement
        )
        provider.permit(_DescribeCluster(cdk.Stack.of(self), cluster_name))
        access = eks.CfnAccessEntry(
            self,
            "Access",
            cluster_name=cluster_name,
            principal_arn=provider.step_role_arn,
            access_policies=[cluster_admin()],
            type="STANDARD",
        )
        self.service_token = provider.service_token
        self.resource = cdk.CustomResource(
            self,
            "Resource",
            resource_type="Custom::HyperPodDependencies",
            service_token=provider.service_token,
            service_timeout=cdk.Duration.hours(1),
            properties={
                "PropertiesVersion": PROPERTIES_VERSION,
                "ClusterName": cluster_name,
                "Name": INVENTORY,
                **objects,
                "Identity": identity,
            },
        )
        # Access must exist until the objects are deleted, and the provider handles the deletion.
        self.resource.node.add_dependency(provider, access)
        # The objects that the last request kept although the file no longer has them, and why.
        self.kept_objects = self.resource.get_att_string("KeptObjects")


@dataclass(frozen=True)
class _DescribeCluster:
    """Allow finding the API server, and reading add-ons; the function's rights in Kubernetes follow from its access entry."""

    stack: cdk.Stack
    cluster_name: str

    def statements(self) -> list[iam.PolicyStatement]:
        arn = self.stack.format_arn(service="eks", resource="cluster", resource_name=self.cluster_name)
        return [
            allow("FindApiServer", arn, "eks:DescribeCluster"),
            allow("ReadAddonHealth", [*self.wildcards()], "eks:DescribeAddon"),
        ]

    def wildcards(self) -> dict[str, str]:
        arn = self.stack.format_arn(service="eks", resource="addon", resource_name=f"{self.cluster_name}/*")
        return {arn: "the ARN of an add-on ends in a random ID"}
