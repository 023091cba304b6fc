"""Define the cluster as AWS::SageMaker::Cluster."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from config.errors import ConfigError
from config.model import ClusterConfig
from constructs.hyperpod.cluster.create_cluster_input import create_cluster_input
from constructs.hyperpod.cluster.generated_names import native_name
from constructs.hyperpod.cluster.native_fields import native_problems
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.removal_policy import removal_policy
from constructs.hyperpod.storage.shared_storage import SharedStorage


class NativeCluster(Construct):
    """Define a SageMaker HyperPod cluster as AWS::SageMaker::Cluster; its Ref is the ARN of the cluster.

    It has the logical ID of the custom resource, so that CloudFormation refuses to replace one by the other ("Update of resource
    type is not permitted") instead of creating a second cluster. docs/change/implementation.md describes how to switch.
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
        request = create_cluster_input(config, network=network, storage=storage, scripts=scripts, role=role)
        problems = list(native_problems(config, request))
        if problems:
            raise ConfigError({f"{config.name}.yaml": problems})
        # The resource has no attribute for a generated name, so the name must be known at synth.
        self._name = config.cluster_name or native_name(config, network)
        self._resource = sagemaker.CfnCluster(self, "Resource", cluster_name=self._name)
        for member, value in request.items():
            if member != "Tags":  # included in the stage's tags, which every resource gets
                self._resource.add_property_override(member, value)
        # A weak reference is resolved again only if the template changes.
        self._resource.add_metadata("NetworkIdentity", network.identity)
        self._resource.apply_removal_policy(removal_policy(config.removal))
        self._resource.node.add_dependency(network, scripts, role)
        # validation/rules/instance_types.py warns about unknown types.
        reason = "the list of instance types by region lags behind the service; `./hpod preflight` checks the account"
        cdk.Validations.of(self._resource).acknowledge(cdk.Acknowledgment(id="CloudFormation-Validate::E3644", reason=reason))

    @property
    def cluster_name(self) -> str:
        """The name of the cluster."""
        return self._name

    @property
    def cluster_arn(self) -> str:
        """The ARN of the cluster."""
        return self._resource.attr_cluster_arn

    @property
    def cluster_id(self) -> str:
        """The last part of the ARN, used in Session Manager targets and names of log groups."""
        return cdk.Fn.select(1, cdk.Fn.split("/", self.cluster_arn))
