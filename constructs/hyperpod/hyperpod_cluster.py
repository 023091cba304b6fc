"""The HyperPod cluster itself."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import CfnElement, CustomResource, Duration, Stack
from constructs import Construct

from config.model import ClusterConfig
from config.request import RequestValues, cluster_request
from constructs.hyperpod.cluster_machinery import ClusterMachinery
from constructs.hyperpod.identity import identity_of
from constructs.hyperpod.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.network import Network
from constructs.hyperpod.node_role import NodeRole

PROPERTIES_VERSION = "1"


class HyperPodCluster(Construct):
    """Define a HyperPod cluster: CloudFormation creates, updates and deletes it by a custom resource of ours.

    The cluster depends on everything that HyperPod and the custom resource need while it is deleted. CloudFormation gives one
    resource an hour: hours beyond the first (``wait_hours``) are further resources, which wait after the cluster when it comes
    up, and one before it when it goes.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        config: ClusterConfig,
        network: Network,
        node_role: NodeRole,
        scripts: LifecycleScripts,
    ) -> None:
        super().__init__(scope, id)
        self._machinery = ClusterMachinery(self, "Machinery", node_role=node_role)
        values = RequestValues(node_role.role_arn, scripts.source_s3_uri, network.node_subnet_ids, [network.security_group_id])
        request = cluster_request(config, values=values)
        self.resource = self._custom_resource("Resource", "Custom::HyperPodCluster", _properties(config, network, request))
        logical_id = _logical_id(self.resource)
        self._machinery.allow_clusters_of(logical_id)
        needed = (node_role, scripts, self._machinery)
        self.resource.node.add_dependency(*needed)
        if config.wait_hours > 1:
            deletion = self._custom_resource("Deletion", "Custom::HyperPodDeletion", {"ClusterLogicalId": logical_id})
            deletion.node.add_dependency(*needed)
            self.resource.node.add_dependency(deletion)
            self._wait(config.wait_hours, identity_of(cluster_request(config, values=RequestValues.samples(config))))

    @property
    def cluster_name(self) -> str:
        """The cluster's name."""
        return self.resource.ref

    @property
    def cluster_arn(self) -> str:
        """The cluster's ARN."""
        return self.resource.get_att_string("ClusterArn")

    @property
    def cluster_id(self) -> str:
        """The last part of the cluster's ARN, by which log groups and Session Manager know it."""
        return self.resource.get_att_string("ClusterId")

    def _wait(self, hours: int, trigger: str) -> None:
        """Wait for the cluster in as many further resources as there are hours after the first, one after the other."""
        previous = self.resource
        for hour in range(2, hours + 1):
            properties = {"ClusterName": self.cluster_name, "Hour": hour, "Last": hour == hours, "Trigger": trigger}
            wait = self._custom_resource(f"WaitHour{hour}", "Custom::HyperPodWait", properties)
            wait.node.add_dependency(previous)
            previous = wait

    def _custom_resource(self, id: str, resource_type: str, properties: Mapping[str, Any]) -> CustomResource:
        return CustomResource(
            self,
            id,
            resource_type=resource_type,
            service_token=self._machinery.service_token,
            service_timeout=Duration.hours(1),
            properties={"PropertiesVersion": PROPERTIES_VERSION, **properties},
        )


def _properties(config: ClusterConfig, network: Network, request: Mapping[str, Any]) -> dict[str, Any]:
    fixed = {"ClusterName": config.cluster_name} if config.cluster_name else {}
    return {
        "NamePrefix": config.name,
        **fixed,
        "Request": request,
        "Wait": "nodes",
        "WaitHours": config.wait_hours,
        "NetworkIdentity": network.identity,
    }


def _logical_id(resource: CustomResource) -> str:
    element = resource.node.default_child
    if not isinstance(element, CfnElement):
        raise TypeError(f"a custom resource's default child is its element, got {element!r}")
    return Stack.of(resource).get_logical_id(element)
