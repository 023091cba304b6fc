"""The scripts that run on every node, and what they need to know."""

from constructs import Construct

from config.model import ClusterConfig
from constructs.hyperpod.fingerprint import fingerprint
from constructs.hyperpod.lifecycle.provisioning_parameters import provisioning_parameters, static_parameters
from constructs.hyperpod.lifecycle.script_bucket import ScriptBucket
from constructs.hyperpod.lifecycle.script_bundle import ScriptBundle
from constructs.hyperpod.lifecycle.script_deployment import ScriptDeployment
from constructs.hyperpod.storage.shared_storage import SharedStorage


class LifecycleScripts(Construct):
    """Define the bucket of a cluster's scripts and put them there, below a prefix that stands for their content.

    A script that changed under the prefix it had would reach no node: the cluster's request would be the same. A prefix that is
    no longer used stays, as running nodes and a rollback refer to it.
    """

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, storage: SharedStorage) -> None:
        super().__init__(scope, id)
        self._bucket = ScriptBucket(self, "Bucket", config=config)
        bundle = ScriptBundle.of(config)
        # A hash of all that nodes get; the file system stands in by its identity, as its id is not known yet.
        content = fingerprint(bundle.fingerprint, static_parameters(config), storage.identity)
        self._prefix = f"{ScriptBucket.FOLDER}/{content}/{storage.file_system_id or 'local'}"
        ScriptDeployment(
            self,
            "Deployment",
            bucket=self._bucket,
            prefix=self._prefix,
            bundle=bundle,
            parameters=provisioning_parameters(config, storage),
        )

    @property
    def bucket(self) -> ScriptBucket:
        """The bucket that nodes read the scripts from."""
        return self._bucket

    @property
    def source_s3_uri(self) -> str:
        """Where HyperPod finds the scripts: LifeCycleConfig's SourceS3Uri."""
        return f"s3://{self._bucket.bucket_name}/{self._prefix}/"
