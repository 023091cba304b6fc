"""Define the lifecycle scripts and their settings."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from config.fingerprint import fingerprint
from config.model import ClusterConfig, Orchestrator
from constructs.hyperpod.lifecycle.provisioning_parameters import file_name, provisioning_parameters, static_parameters
from constructs.hyperpod.lifecycle.running_nodes import RunningNodes
from constructs.hyperpod.lifecycle.script_bucket import ScriptBucket
from constructs.hyperpod.lifecycle.script_bundle import ScriptBundle
from constructs.hyperpod.lifecycle.script_deployment import ScriptDeployment
from constructs.hyperpod.statement import allow
from constructs.hyperpod.storage import SharedStorage


class LifecycleScripts(Construct):
    """Define the script bucket and upload the scripts to a prefix that contains a hash of their content.

    A changed script changes the prefix, and so the cluster's request; otherwise no node would get it. Old prefixes stay, because
    running nodes and rollbacks refer to them. ``running_nodes`` is None if nodes do not follow the cluster file.
    """

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, storage: SharedStorage) -> None:
        super().__init__(scope, id)
        self.bucket = ScriptBucket(self, "Bucket", config=config)
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
            bucket=self.bucket,
            prefix=self._prefix,
            bundle=bundle,
            parameters_file=file_name(config),
            parameters=parameters,
        )
        self.source_s3_uri = f"s3://{self.bucket.bucket_name}/{self._prefix}/"
        self._fingerprint, self._parameters = bundle.fingerprint, parameters or {}
        self.running_nodes = RunningNodes(self, "RunningNodes", config=config) if config.has_node_reports else None

    def version_properties(self) -> dict[str, object]:
        """Return the properties from which the functions derive the bundle's SHA-256.

        The fingerprint excludes the parameters file, whose values CloudFormation knows.
        """
        return {
            "Bucket": self.bucket.bucket_name,
            "Prefix": self._prefix,
            "Fingerprint": self._fingerprint,
            # CloudFormation sends a custom resource every scalar as a string, and no null.
            "Parameters": cdk.Stack.of(self).to_json_string(dict(self._parameters)),
        }

    def statements(self) -> list[iam.PolicyStatement]:
        """Allow the functions to compare the scripts with their hash."""
        return [
            allow("ListScripts", self.bucket.bucket_arn, "s3:ListBucket"),
            allow("ReadScripts", self.bucket.scripts_arn, "s3:GetObject"),
        ]

    def wildcards(self) -> dict[str, str]:
        """Return the reason for each wildcard in the statements."""
        return {self.bucket.scripts_arn: "a rollback reads the scripts of the deployment before"}
