"""The cluster itself, by CloudFormation's own resource type."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from config.errors import ConfigError
from config.model import ClusterConfig
from constructs.hyperpod.cluster.generated_names import native_name
from constructs.hyperpod.cluster.native_fields import native_problems
from constructs.hyperpod.cluster.requested_cluster import requested_cluster
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.removal import removal_policy


class NativeCluster(Construct):
    """Define a SageMaker HyperPod cluster by AWS::SageMaker::Cluster; its Ref is the cluster's ARN.

    Its logical id is that of our custom resource, so that CloudFormation refuses to put one in the place of the other: "Update of
    resource type is not permitted". With two ids it would create a second cluster first: see docs/change/implementation.md.
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
        request = requested_cluster(config, network=network, scripts=scripts, role=role)
        problems = list(native_problems(config, request))
        if problems:
            raise ConfigError({f"{config.name}.yaml": problems})
        # The attributes are read-only without the name, so that it has to be known; a name that CloudFormation makes up is not.
        self._name = config.cluster_name or native_name(config, network)
        self._resource = sagemaker.CfnCluster(self, "Resource", cluster_name=self._name)
        for member, value in request.items():
            if member != "Tags":  # the stage's tags, these among them, are put on every resource
                self._resource.add_property_override(member, value)
        # A weak reference is resolved again only where the template's text changes.
        self._resource.add_metadata("NetworkIdentity", network.identity)
        self._resource.apply_removal_policy(removal_policy(config.removal))
        self._resource.node.add_dependency(network, scripts, role)
        # Types that this release does not know either are a warning of ours: validation/rules/instance_types.py.
        reason = "the check's list of instance types by region lags behind the service; `./hpod preflight` asks the account"
        cdk.Validations.of(self._resource).acknowledge(cdk.Acknowledgment(id="CloudFormation-Validate::E3644", reason=reason))

    @property
    def cluster_name(self) -> str:
        """The cluster's name."""
        return self._name

    @property
    def cluster_arn(self) -> str:
        """The cluster's ARN."""
        return self._resource.attr_cluster_arn

    @property
    def cluster_id(self) -> str:
        """The last part of the ARN, which Session Manager targets and log groups are named after."""
        return cdk.Fn.select(1, cdk.Fn.split("/", self.cluster_arn))
