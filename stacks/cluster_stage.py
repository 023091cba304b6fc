"""Define everything that one cluster file describes."""

from aws_cdk import CrossStackReferences, Environment, ReferenceStrength, Stack, Stage, Tags
from constructs import Construct

from config.model import ClusterConfig
from config.tags import CLUSTER_TAG
from stacks.cluster_stack import ClusterStack
from stacks.monitoring_stack import MonitoringStack
from stacks.network_stack import NetworkStack
from stacks.storage_stack import StorageStack


class ClusterStage(Stage):
    """Define a stack for each life cycle of a cluster, deployed in this order and destroyed in reverse."""

    def __init__(self, scope: Construct, *, config: ClusterConfig, environment: Environment) -> None:
        super().__init__(scope, config.name, env=environment)
        CrossStackReferences.of(self).consume(ReferenceStrength.WEAK)
        network = NetworkStack(self, "Network", config=config)
        storage = StorageStack(self, "Storage", config=config, network=network.network)
        self.cluster = ClusterStack(self, "Cluster", config=config, network=network.network, storage=storage.storage)
        storage.add_stack_dependency(network)
        self.cluster.add_stack_dependency(storage)
        last: Stack = self.cluster
        if config.eks:
            last = self._add_kubernetes(config, network, storage)
        if config.monitoring.enabled:
            monitoring = MonitoringStack(self, "Monitoring", config=config, storage=storage.storage, cluster=self.cluster)
            monitoring.add_stack_dependency(last)
        for key, value in {CLUSTER_TAG: config.name, **config.tags}.items():
            Tags.of(self).add(key, value)

    def _add_kubernetes(self, config: ClusterConfig, network: NetworkStack, storage: StorageStack) -> Stack:
        """Define the EKS cluster before the HyperPod cluster, and after it what needs its nodes; return the last stack."""
        from stacks.addons_stack import AddonsStack  # noqa: PLC0415  Slurm files do not load it
        from stacks.kubernetes_stack import KubernetesStack  # noqa: PLC0415

        kubernetes = KubernetesStack(self, "Kubernetes", config=config, network=network.network, storage=storage.storage)
        kubernetes.add_stack_dependency(storage)
        self.cluster.add_stack_dependency(kubernetes)
        addons = AddonsStack(self, "Addons", config=config, cluster=self.cluster, provider=kubernetes.service_token)
        addons.add_stack_dependency(self.cluster)
        return addons
