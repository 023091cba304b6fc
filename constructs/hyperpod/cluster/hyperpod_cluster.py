"""Define the cluster as a custom resource."""

from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from cluster_request.effective_request import EffectiveRequest
from cluster_request.request import Request, RequestValues, cluster_request
from cluster_request.resource_properties import resource_properties, tagged
from config.fingerprint import fingerprint
from config.instance_group import Role
from config.model import ClusterConfig, Orchestrator, Wait, slurm_of
from config.operation_names import bundle_parameter
from config.slurm import METADATA_ACCESS
from constructs.hyperpod.cluster.autoscaler_role import AutoscalerRole
from constructs.hyperpod.cluster.cluster_provider import ClusterProvider
from constructs.hyperpod.cluster.generated_names import cluster_names
from constructs.hyperpod.cluster.key_permissions import volume_key_ids
from constructs.hyperpod.cluster.orchestrator_permissions import eks_cluster_arn
from constructs.hyperpod.cluster.step_permissions import StepPermissions
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.lifecycle.running_nodes import RunningNodes
from constructs.hyperpod.monitoring.topic_arn import topic_arn
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.removal_policy import removal_policy
from constructs.hyperpod.storage import SharedStorage

# Increase it with each change that older functions would misread, and with each new attribute: CloudFormation knows only the
# attributes of the last response, and a new version causes another one. The functions accept every released version.
PROPERTIES_VERSION = "2"


class HyperPodCluster(Construct):
    """Define a SageMaker HyperPod cluster as a custom resource; its Ref is the name of the cluster.

    HyperPod owns the log group ``/aws/sagemaker/Clusters/...``, which outlives the cluster and explains failed creations.
    ``request_identity`` changes with every change of the request, ``missing_nodes`` names groups that ran with fewer nodes than
    requested when the deployment ended, and ``rollout`` is the result of the last change of running nodes.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        config: ClusterConfig,
        role: iam.IRole,
        controller_role: iam.IRole | None = None,
        network: Network,
        storage: SharedStorage,
        scripts: LifecycleScripts,
    ) -> None:
        super().__init__(scope, id)
        self._config = config
        self._provider = ClusterProvider(self, "Provider", alarm_topic_arn=config.alarm_topic_arn or topic_arn(config))
        autoscaler = AutoscalerRole(self, "AutoscalerRole", config=config) if config.eks and config.eks.autoscaling else None
        values = RequestValues(
            execution_role_arn=role.role_arn,
            controller_role_arn=controller_role.role_arn if controller_role else None,
            source_s3_uri=scripts.source_s3_uri,
            subnet_ids=network.node_subnet_ids,
            security_group_ids=[network.security_group_id],
            file_system_dns_name=storage.dns_name,
            file_system_mount_name=storage.mount_name,
            eks_cluster_arn=eks_cluster_arn(cdk.Stack.of(self), config),
            autoscaler_role_arn=autoscaler.role_arn if autoscaler else None,
        )
        request = tagged(cluster_request(config, values=values), config)
        self._define(request, network.identity, scripts)
        # All must exist until the cluster is deleted: HyperPod uses the role to remove network interfaces, nodes read the scripts
        # through the network, and the provider handles the deletion.
        others = [each for each in (controller_role, autoscaler) if each]
        dependencies = (self._provider, network, scripts, role, *others)
        self._resource.node.add_dependency(*dependencies)
        if config.wait_hours > 1:
            if config.wait is not Wait.NONE:
                self._wait_longer(request)
            self._delete_longer(dependencies)
        self.rollout = self._roll_out(scripts, scripts.running_nodes) if scripts.running_nodes else None
        self.missing_nodes = self._last.get_att_string("MissingNodes")

    def _define(self, request: Request, network_identity: str, scripts: LifecycleScripts) -> None:
        """Define the cluster, with the permissions to manage it."""
        # The function compares the content of the bucket with it before nodes start.
        properties = {**resource_properties(self._config, request, network_identity), "Scripts": scripts.version_properties()}
        self._resource = self._last = self._custom("Resource", "Custom::HyperPodCluster", properties)
        self._resource.apply_removal_policy(removal_policy(self._config.removal))
        self._provider.permit(self._permissions(request))
        self._provider.permit(scripts)
        self.cluster_name = self._resource.ref
        self.cluster_arn = self._resource.get_att_string("ClusterArn")
        self.cluster_id = self._resource.get_att_string("ClusterId")
        self.request_identity = fingerprint(cdk.Stack.of(self).resolve(request), network_identity)

    def _roll_out(self, scripts: LifecycleScripts, running_nodes: RunningNodes) -> str:
        """Move running nodes to new scripts, after the cluster knows them for new nodes; return the resource's result."""
        self._provider.permit(running_nodes)
        running_nodes.restrict_signing(self._provider.step_role_arn)
        rollout = self._custom(
            "Rollout",
            "Custom::HyperPodRollout",
            {
                "ClusterName": self.cluster_name,
                "Parameter": running_nodes.parameter_name,
                "LogGroup": running_nodes.log_group.log_group_name,
                "SigningKey": running_nodes.key.key_arn,
                **scripts.version_properties(),
                "ControllerGroups": [group.name for group in self._config.of_role(Role.CONTROLLER)],
                "LoginGroups": [group.name for group in self._config.of_role(Role.LOGIN)],
                "OnFailure": self._config.lifecycle.on_follow_failure.value,
            },
        )
        # For `preflight`: a node reads it in its settings, which the template does not have.
        resource = cast("cdk.CfnResource", rollout.node.default_child)
        resource.add_metadata(METADATA_ACCESS, slurm_of(self._config).metadata_access.value)
        rollout.node.add_dependency(self._last, self._provider, scripts)
        return rollout.get_att_string("Rollout")

    def _wait_longer(self, request: Request) -> None:
        """Define a resource for each hour after the first, the limit of CloudFormation for a single resource."""
        # Zero means all nodes. The cluster can have another minimum: HyperPod keeps that of an update that was rolled back.
        least = {group["InstanceGroupName"]: group.get("MinInstanceCount", 0) for group in _groups(request)}
        is_for_nodes = self._config.wait is Wait.NODES
        for hour in range(2, self._config.wait_hours + 1):
            wait = self._custom(
                f"Hour{hour}",
                "Custom::HyperPodWait",
                {
                    "ClusterName": self.cluster_name,
                    "Hour": hour,
                    "Last": hour == self._config.wait_hours,
                    # CloudFormation sends an update only if a property changes.
                    "Trigger": self.request_identity,
                    **({"MinInstanceCounts": least} if is_for_nodes else {"Wait": self._config.wait.value}),
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
        groups = _groups(request)
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
            adopts=self._config.adopt,
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


def _groups(request: Request) -> list[Request]:
    return [*request["InstanceGroups"], *request.get("RestrictedInstanceGroups", [])]
