"""Define the lifecycle scripts and their settings."""

from constructs import Construct

from config.fingerprint import fingerprint
from config.model import ClusterConfig, Orchestrator
from constructs.hyperpod.lifecycle.bundle_version import BundleVersion
from constructs.hyperpod.lifecycle.provisioning_parameters import file_name, provisioning_parameters, static_parameters
from constructs.hyperpod.lifecycle.running_nodes import RunningNodes
from constructs.hyperpod.lifecycle.script_bucket import ScriptBucket
from constructs.hyperpod.lifecycle.script_bundle import ScriptBundle
from constructs.hyperpod.lifecycle.script_deployment import ScriptDeployment
from constructs.hyperpod.storage.shared_storage import SharedStorage


class LifecycleScripts(Construct):
    """Define the script bucket and upload the scripts to a prefix that contains a hash of their content.

    A changed script changes the prefix, and so the cluster's request; otherwise no node would get it. Old prefixes stay, because
    running nodes and rollbacks refer to them.
    """

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, storage: SharedStorage) -> None:
        super().__init__(scope, id)
        self._bucket = ScriptBucket(self, "Bucket", config=config)
        bundle = ScriptBundle.of(config)
        if config.orchestrator is Orchestrator.EKS:
            # Pods mount the file system, and no script reads parameters.
            content, place, parameters = fingerprint(bundle.fingerprint), "eks", None
        else:
            # The id of the file system is unknown at synth; its identity changes with it.
            content = fingerprint(bundle.fingerprint, static_parameters(config), storage.identity)
            place, parameters = storage.file_system_id or "local", provisioning_parameters(config, storage)
        self._prefix = f"{ScriptBucket.FOLDER}/{content}/{place}"
        ScriptDeployment(
            self,
            "Deployment",
            bucket=self._bucket,
            prefix=self._prefix,
            bundle=bundle,
            parameters_file=file_name(config),
            parameters=parameters,
        )
        self._version = BundleVersion(self._bucket.bucket_name, self._prefix, bundle.fingerprint, parameters or {})
        self._running_nodes = RunningNodes(self, "RunningNodes", config=config) if config.has_node_reports else None

    @property
    def bucket(self) -> ScriptBucket:
        """The bucket that stores the scripts."""
        return self._bucket

    @property
    def source_s3_uri(self) -> str:
        """The SourceS3Uri of LifeCycleConfig."""
        return f"s3://{self._bucket.bucket_name}/{self._prefix}/"

    @property
    def version(self) -> BundleVersion:
        """The version of the scripts that the pointer of running nodes identifies."""
        return self._version

    @property
    def running_nodes(self) -> RunningNodes | None:
        """What running nodes read and write to follow the cluster file; None if they do not follow it."""
        return self._running_nodes
