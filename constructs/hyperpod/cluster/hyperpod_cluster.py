"""Define the cluster as a custom resource."""

from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from cluster_request.effective_request import EffectiveRequest
from cluster_request.request import Request
from cluster_request.resource_properties import resource_properties, tagged
from config.fingerprint import fingerprint
from config.instance_group import Role
from config.model import ClusterConfig, Orchestrator, Wait
from config.operation_names import bundle_parameter
from constructs.hyperpod.cluster.autoscaler_role import AutoscalerRole
from constructs.hyperpod.cluster.cluster_provider import ClusterProvider
from constructs.hyperpod.cluster.create_cluster_input import create_cluster_input
from constructs.hyperpod.cluster.generated_names import cluster_names
from constructs.hyperpod.cluster.step_permissions import StepPermissions
from constructs.hyperpod.cluster.volume_keys import volume_key_ids
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.lifecycle.running_nodes import RunningNodes
from constructs.hyperpod.monitoring.topic_arn import topic_arn
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.removal_policy import removal_policy
from constructs.hyperpod.storage.shared_storage import SharedStorage

# Increase it with each change that older functions would misread, and with each new attribute: CloudFormation knows only the
# attributes of the last response, and a new version causes another one. The functions accept every released version.
PROPERTIES_VERSION = "2"


class HyperPodCluster(Construct):
    """Define a SageMaker HyperPod cluster as a custom resource; its Ref is the name of the cluster.

    HyperPod owns the log group ``/aws/sagemaker/Clusters/...``, which outlives the cluster and explains failed creations.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        config: ClusterConfig,
        network: Network,
        storage: SharedStorage,
        scripts: LifecycleScripts,
        role: iam.IRole,
    ) -> None:
        super().__init__(scope, id)
        self._config = config
        self._provider = ClusterProvider(self, "Provider", alarm_topic_arn=config.alarm_topic_arn or topic_arn(config))
        autoscaler = AutoscalerRole(self, "AutoscalerRole", config=config) if config.eks and config.eks.autoscaling else None
        values = create_cluster_input(config, network=network, storage=storage, scripts=scripts, role=role, autoscaler=autoscaler)
        request = tagged(values, config)
        properties = resource_properties(config, request, network.identity)
        self._resource = self._custom("Resource", "Custom::HyperPodCluster", properties)
        # All must exist until the cluster is deleted: HyperPod uses the role to remove network interfaces, nodes read the scripts
        # through the network, and the provider handles the deletion.
        dependencies = (self._provider, network, scripts, role, *([autoscaler] if autoscaler else []))
        self._resource.node.add_dependency(*dependencies)
        self._last = self._resource
        self._resource.apply_removal_policy(removal_policy(config.removal))
        self._provider.permit(self._permissions(request))
        self._request_identity = fingerprint(cdk.Stack.of(self).resolve(request), network.identity)
        if config.wait_hours > 1:
            if config.wait is not Wait.NONE:
                self._wait_longer(self._request_identity)
            self._delete_longer(dependencies)
        self._rollout = self._roll_out(scripts, scripts.running_nodes) if scripts.running_nodes else None

    @property
    def cluster_name(self) -> str:
        """The name of the cluster."""
        return self._resource.ref

    @property
    def cluster_arn(self) -> str:
        """The ARN of the cluster."""
        return self._resource.get_att_string("ClusterArn")

    @property
    def cluster_id(self) -> str:
        """The last part of the ARN, used in Session Manager targets and names of log groups."""
        return self._resource.get_att_string("ClusterId")

    @property
    def request_identity(self) -> str:
        """A hash that changes with every change of the request."""
        return self._request_identity

    @property
    def missing_nodes(self) -> str:
        """The groups that ran with fewer nodes than requested when the deployment ended."""
        return self._last.get_att_string("MissingNodes")

    @property
    def rollout(self) -> str | None:
        """The result of the last change of running nodes; None if they do not follow the cluster file."""
        return self._rollout.get_att_string("Rollout") if self._rollout else None

    def _roll_out(self, scripts: LifecycleScripts, running_nodes: RunningNodes) -> cdk.CustomResource:
        """Define the resource that moves running nodes to new scripts, after the cluster knows them for new nodes."""
        self._provider.permit(running_nodes)
        rollout = self._custom(
            "Rollout",
            "Custom::HyperPodRollout",
            {
                "ClusterName": self.cluster_name,
                "Parameter": running_nodes.parameter_name,
                "LogGroup": running_nodes.log_group.log_group_name,
                **scripts.version.properties(cdk.Stack.of(self)),
                "ControllerGroups": [group.name for group in self._config.of_role(Role.CONTROLLER)],
                "LoginGroups": [group.name for group in self._config.of_role(Role.LOGIN)],
                "OnFailure": self._config.lifecycle.on_follow_failure.value,
            },
        )
        rollout.node.add_dependency(self._last, self._provider, scripts)
        return rollout

    def _wait_longer(self, trigger: str) -> None:
        """Define a resource for each hour after the first, the limit of CloudFormation for a single resource."""
        for hour in range(2, self._config.wait_hours + 1):
            wait = self._custom(
                f"Hour{hour}",
                "Custom::HyperPodWait",
                {
                    "ClusterName": self.cluster_name,
                    "Hour": hour,
                    "Last": hour == self._config.wait_hours,
                    # CloudFormation sends an update only if a property changes.
                    "Trigger": trigger,
                    **({} if self._config.wait is Wait.NODES else {"Wait": self._config.wait.value}),
                },
            )
            wait.node.add_dependency(self._last, self._provider)
            self._last = wait

    def _delete_longer(self, dependencies: tuple[IDependable, ...]) -> None:
        """Define a resource whose deletion waits until the cluster is deleted, and so keeps the cluster's dependencies."""
        deletion = self._custom("Deletion", "Custom::HyperPodDeletion", {"ClusterLogicalId": self._logical_id})
        deletion.node.add_dependency(*dependencies)
        self._resource.node.add_dependency(deletion)

    def _permissions(self, request: Request) -> StepPermissions:
        groups = [*request["InstanceGroups"], *request.get("RestrictedInstanceGroups", [])]
        return StepPermissions(
            stack=cdk.Stack.of(self),
            logical_id=self._logical_id,
            cluster_names=cluster_names(self._config),
            role_arns=sorted({group["ExecutionRole"] for group in groups}),
            cluster_role_arn=request.get("ClusterRole"),
            training_plan_arns=sorted({group["TrainingPlanArn"] for group in groups if "TrainingPlanArn" in group}),
            volume_key_ids=volume_key_ids(EffectiveRequest(self._config)),
            bundle_parameter=bundle_parameter(self._config.name) if self._config.orchestrator is Orchestrator.SLURM else None,
            eks_cluster_name=self._config.eks_cluster_name,
            image_ids=sorted({image for group in groups if (image := group.get("ImageId", "")).startswith("ami-")}),
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
        """The logical ID of the cluster as text, not as a reference."""
        return cdk.Stack.of(self).get_logical_id(cast("cdk.CfnElement", self._resource.node.default_child))
