"""Define the EKS cluster and what HyperPod needs in it."""

from aws_cdk import Stack
from constructs import Construct

from cluster_request.eks_addons import addons_before_nodes
from cluster_request.kubernetes_objects.dependencies import object_properties, objects_of
from cluster_request.kubernetes_objects.shared_file_system import SharedFileSystem
from config.eks import EksConfig
from config.fingerprint import fingerprint
from config.model import ClusterConfig, eks_of
from config.zones import region_of_zone
from constructs.hyperpod.cluster.resource_function import Placement
from constructs.hyperpod.kubernetes.access_entries import AccessEntries
from constructs.hyperpod.kubernetes.addons import Addons
from constructs.hyperpod.kubernetes.dependencies import Dependencies
from constructs.hyperpod.kubernetes.eks_cluster import ControlPlaneNetwork, EksCluster
from constructs.hyperpod.monitoring.topic_arn import topic_arn
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.removal_policy import retain
from constructs.hyperpod.storage import SharedStorage
from stacks.stack_content import define_outputs


class KubernetesStack(Stack):
    """Define what must exist before HyperPod creates a cluster on EKS, and until it has deleted the cluster."""

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, network: Network, storage: SharedStorage) -> None:
        super().__init__(scope, id, description=f"EKS cluster of HyperPod cluster {config.name}")
        eks = eks_of(config)
        name = eks.existing.name if eks.existing else self._eks_cluster(config, eks, network).cluster_name
        access = AccessEntries(self, "Access", config=eks, cluster_name=name)
        addons = Addons(
            self,
            "Addons",
            cluster_name=name,
            addons=addons_before_nodes(config),
            preserve=config.retains_eks_cluster or config.keeps_cluster,
            keep_identities=config.keeps_cluster,
        )
        addons.node.add_dependency(access)
        region = config.region or str(region_of_zone(config.network.availability_zone_id))
        dependencies = Dependencies(
            self,
            "Dependencies",
            cluster_name=name,
            objects=object_properties(objects_of(config, region=region, file_system=_file_system(storage))),
            identity=fingerprint(network.identity, storage.identity),
            # A private endpoint is reached with the nodes, whose subnets have internet access.
            placement=None if eks.is_reachable_from_anywhere else Placement(network.node_subnet_ids, network.security_group_id),
            alarm_topic_arn=config.alarm_topic_arn or topic_arn(config),
        )
        dependencies.node.add_dependency(access, addons)
        self.service_token = dependencies.service_token
        if config.keeps_cluster:
            retain(dependencies.resource)

        arn = self.format_arn(service="eks", resource="cluster", resource_name=name)
        after_destroy = f"eks: {{existing: {{name: {name}}}}}" if config.retains_eks_cluster else ""
        define_outputs(
            self,
            ("EksClusterName", name, "Name of the EKS cluster"),
            ("EksClusterArn", arn, "ARN of the EKS cluster"),
            ("KeptObjects", dependencies.kept_objects, "Objects that the deployment kept, with reasons"),
            ("KubernetesAfterDestroy", after_destroy, "EKS cluster that cdk destroy retains, as YAML to reuse it"),
        )

    def _eks_cluster(self, config: ClusterConfig, eks: EksConfig, network: Network) -> EksCluster:
        zone = config.network.availability_zone_id
        subnets = ControlPlaneNetwork(self, "ControlPlaneNetwork", config=eks, network=network, node_zone_id=zone)
        cluster = EksCluster(self, "Cluster", name=config.name, config=eks, network=network, subnet_ids=subnets.subnet_ids)
        cluster.node.add_dependency(subnets)
        if config.retains_eks_cluster:
            retain(subnets, cluster)
        return cluster


def _file_system(storage: SharedStorage) -> SharedFileSystem | None:
    if storage.file_system_id is None:
        return None
    return SharedFileSystem(storage.file_system_id, str(storage.dns_name), str(storage.mount_name))
