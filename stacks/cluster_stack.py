"""Define the cluster, its role and its lifecycle scripts."""

from functools import partial

from aws_cdk import Fn, Stack
from constructs import Construct

from config.fingerprint import fingerprint
from config.model import ClusterConfig, Wait
from config.section import Removal
from constructs.hyperpod.cluster.hyperpod_cluster import HyperPodCluster
from constructs.hyperpod.cluster.node_role import NodeRole
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.removal_policy import retain
from constructs.hyperpod.storage import SharedStorage
from stacks.stack_content import define_outputs
from stacks.storage_stack import DATA_BUCKET_OUTPUT


class ClusterStack(Stack):
    """Define the cluster, the role of its nodes and their lifecycle scripts."""

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, network: Network, storage: SharedStorage) -> None:
        super().__init__(scope, id, description=f"HyperPod cluster {config.name}")
        scripts = LifecycleScripts(self, "Lifecycle", config=config, storage=storage)
        define_role = partial(
            NodeRole,
            self,
            config=config,
            network=network,
            scripts=scripts,
            data_bucket_name=config.storage.data_bucket.existing or _created_data_bucket(storage),
        )
        role = define_role("NodeRole")
        controllers = define_role("ControllerRole", is_for_controllers=True) if config.has_controller_role else None
        if config.removal is Removal.RETAIN:
            retain(scripts.bucket, role, *([controllers] if controllers else []))
        self._identity = [network.identity, storage.identity, *_identity(config)]
        cluster = HyperPodCluster(
            self,
            "Cluster",
            config=config,
            network=network,
            storage=storage,
            scripts=scripts,
            role=role,
            controller_role=controllers,
        )
        if config.recreate:
            self._identity.append(cluster.request_identity)
        reports_missing = config.provisioning and config.wait is Wait.NODES
        missing = "Groups that had fewer nodes than requested when the deployment ended"
        define_outputs(
            self,
            ("ClusterName", cluster.cluster_name, "Name of the HyperPod cluster"),
            ("ClusterArn", cluster.cluster_arn, "ARN of the HyperPod cluster"),
            ("MissingNodes", cluster.missing_nodes if reports_missing else None, missing),
            ("Rollout", cluster.rollout, "Result of the last change of running nodes"),
            ("ClusterId", cluster.cluster_id, "ID of the HyperPod cluster, used in log groups"),
            ("LifecycleScripts", scripts.source_s3_uri, "S3 URI of the lifecycle scripts"),
        )

    @property
    def identity(self) -> str:
        """A hash that changes when the cluster or the file system is replaced, and with all that can recreate the cluster."""
        return fingerprint(*self._identity)


def _identity(config: ClusterConfig) -> tuple[object, ...]:
    create_only = [config.overrides.get(member) for member in ("VpcConfig", "Orchestrator")]
    return (config.cluster_name, config.adopt, config.recreate, *create_only)


def _created_data_bucket(storage: SharedStorage) -> str | None:
    """Return the output of the storage stack; cdk-nag's findings contain its name, which is unknown for a reference."""
    if storage.data_bucket_name is None:
        return None
    return Fn.get_stack_output(Stack.of(storage).stack_name, DATA_BUCKET_OUTPUT)
