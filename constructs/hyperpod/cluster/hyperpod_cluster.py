"""The cluster itself."""

from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from cluster_request.request import Request
from cluster_request.resource_properties import resource_properties, tagged
from config.model import ClusterConfig, Wait
from constructs.hyperpod.cluster.cluster_provider import ClusterProvider
from constructs.hyperpod.cluster.generated_names import name_pattern
from constructs.hyperpod.cluster.requested_cluster import requested_cluster
from constructs.hyperpod.cluster.step_permissions import StepPermissions
from constructs.hyperpod.fingerprint import fingerprint
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.removal import removal_policy

# The functions read every version that was ever released; a change that an older release would misread raises it.
PROPERTIES_VERSION = "1"


class HyperPodCluster(Construct):
    """Define a SageMaker HyperPod cluster by a custom resource of ours; its Ref is the cluster's name.

    The log group ``/aws/sagemaker/Clusters/...`` is HyperPod's own and outlives the cluster: it is where the reasons are when one
    could not be made.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        config: ClusterConfig,
        network: Network,
        scripts: LifecycleScripts,
        role: iam.IRole,
    ) -> None:
        super().__init__(scope, id)
        self._config = config
        self._provider = ClusterProvider(self, "Provider", alarm_topic_arn=config.alarm_topic_arn)
        request = tagged(requested_cluster(config, network=network, scripts=scripts, role=role), config)
        properties = resource_properties(config, request, network.identity)
        self._resource = self._custom("Resource", "Custom::HyperPodCluster", properties)
        # All of it must be there before the cluster is, and stay until the cluster is gone: HyperPod removes nodes' interfaces
        # in the role, nodes start from the scripts by way of the network, and the provider answers for the cluster's deletion.
        needed = (self._provider, network, scripts, role)
        self._resource.node.add_dependency(*needed)
        self._resource.apply_removal_policy(removal_policy(config.removal))
        self._provider.permit(self._permissions(request))
        if config.wait_hours > 1:
            if config.wait is not Wait.NONE:
                self._wait_longer(fingerprint(cdk.Stack.of(self).resolve(request), network.identity))
            # In its own deletion it waits for a cluster that is still going, and so for all that the cluster needs.
            deletion = self._custom("Deletion", "Custom::HyperPodDeletion", {"ClusterLogicalId": self._logical_id})
            deletion.node.add_dependency(*needed)
            self._resource.node.add_dependency(deletion)

    @property
    def cluster_name(self) -> str:
        """The cluster's name."""
        return self._resource.ref

    @property
    def cluster_arn(self) -> str:
        """The cluster's ARN."""
        return self._resource.get_att_string("ClusterArn")

    @property
    def cluster_id(self) -> str:
        """The last part of the ARN, which Session Manager targets and log groups are named after."""
        return self._resource.get_att_string("ClusterId")

    def _wait_longer(self, trigger: str) -> None:
        """Wait after the cluster for hours beyond the one that CloudFormation gives a resource."""
        last = self._resource
        for hour in range(2, self._config.wait_hours + 1):
            wait = self._custom(
                f"Hour{hour}",
                "Custom::HyperPodWait",
                {
                    "ClusterName": self.cluster_name,
                    "Hour": hour,
                    "Last": hour == self._config.wait_hours,
                    # Only a changed property makes CloudFormation ask again.
                    "Trigger": trigger,
                    **({} if self._config.wait is Wait.NODES else {"Wait": self._config.wait.value}),
                },
            )
            wait.node.add_dependency(last, self._provider)
            last = wait

    def _permissions(self, request: Request) -> StepPermissions:
        groups = [*request["InstanceGroups"], *request.get("RestrictedInstanceGroups", [])]
        roles = {*(group["ExecutionRole"] for group in groups), *([request["ClusterRole"]] if "ClusterRole" in request else [])}
        return StepPermissions(
            stack=cdk.Stack.of(self),
            logical_id=self._logical_id,
            cluster_names=self._config.cluster_name or name_pattern(self._config),
            role_arns=sorted(roles),
            training_plan_arns=sorted({group["TrainingPlanArn"] for group in groups if "TrainingPlanArn" in group}),
        )

    def _custom(self, id: str, resource_type: str, properties: dict[str, object]) -> cdk.CustomResource:
        return cdk.CustomResource(
            self,
            id,
            resource_type=resource_type,
            service_token=self._provider.service_token,
            service_timeout=cdk.Duration.hours(1),
            properties={"PropertiesVersion": PROPERTIES_VERSION, **properties},
        )

    @property
    def _logical_id(self) -> str:
        """The logical id of the cluster, without a reference to it."""
        return cdk.Stack.of(self).get_logical_id(cast("cdk.CfnElement", self._resource.node.default_child))
