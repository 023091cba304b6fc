"""Define everything that one cluster file describes."""

from aws_cdk import CrossStackReferences, Environment, ReferenceStrength, Stage, Tags
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
        if config.is_monitored:
            monitoring = MonitoringStack(
                self, "Monitoring", config=config, network=network.network, storage=storage.storage, cluster=self.cluster
            )
            monitoring.add_stack_dependency(self.cluster)
        for key, value in {CLUSTER_TAG: config.name, **config.tags}.items():
            Tags.of(self).add(key, value)
