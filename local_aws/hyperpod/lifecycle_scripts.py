"""A group's lifecycle scripts and the checks before they run, with or without simulated nodes."""

from dataclasses import dataclass

from local_aws.hyperpod.logs import NodeLog
from local_aws.hyperpod.model import Cluster
from local_aws.hyperpod.node_runner import Launch, Outcome
from local_aws.hyperpod.roles import ExecutionRole
from local_aws.json_service import Context, Json

PARAMETERS = "provisioning_parameters.json"
# AWS's text: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html
BOTH = f"The LifeCycleConfig cannot include both a SLURM Orchestrator Config and a {PARAMETERS} file simultaneously"


@dataclass(frozen=True)
class LifecycleScripts:
    """A folder in S3, and the script in it that HyperPod runs."""

    uri: str
    bucket: str
    prefix: str
    entry: str  # its path below the folder

    @classmethod
    def of(cls, spec: Json) -> "LifecycleScripts | None":
        """Return the scripts of an instance group; None if it names none."""
        config = spec.get("LifeCycleConfig") or {}
        uri = str(config.get("SourceS3Uri") or "")
        bucket, _, prefix = uri.partition("://")[2].partition("/")
        entry = str(config.get("OnCreate") or config.get("OnInitComplete") or "")
        return cls(uri, bucket, prefix.strip("/"), entry) if uri else None

    def key(self, path: str) -> str:
        """Return the key of a file in the folder."""
        return "/".join(part for part in (self.prefix, path) if part)


def check(launch: Launch, scripts: LifecycleScripts) -> str | None:
    """Return why the scripts cannot run on the node, or None."""
    cluster, spec = launch.cluster, launch.node.spec
    return _refused(cluster, ExecutionRole.of(cluster, spec), scripts) or _misplaced(cluster, scripts)


def failed(failure: str, log: NodeLog) -> Outcome:
    """Return the outcome of failed scripts, in HyperPod's words, with the cause and the log's location."""
    return Outcome(f"Lifecycle scripts did not run successfully: {failure}. See {log.place}")


def _refused(cluster: Cluster, role: ExecutionRole, scripts: LifecycleScripts) -> str | None:
    arn, script = f"arn:{cluster.partition}:s3:::{scripts.bucket}", scripts.key(scripts.entry)
    folder = script.rpartition("/")[0]
    needed: tuple[tuple[str, str, Context], ...] = (
        ("s3:ListBucket", arn, {"s3:prefix": f"{folder}/" if folder else ""}),
        ("s3:GetObject", f"{arn}/{script}", {}),
    )
    for action, resource, context in needed:
        if not role.may(action, resource, context):
            return f"the execution role {role.arn} is not authorized to perform {action} on {resource}"
    return None


def _misplaced(cluster: Cluster, scripts: LifecycleScripts) -> str | None:
    """Return why the scripts in S3 are unusable, or None."""
    script = scripts.key(scripts.entry)
    if not _exists(cluster, scripts.bucket, script):
        return f"could not download s3://{scripts.bucket}/{script}: there is no such object"
    if _is_set_up_by_the_api(cluster) and _exists(cluster, scripts.bucket, scripts.key(PARAMETERS)):
        return f"{BOTH}: s3://{scripts.bucket}/{scripts.prefix} holds the file"
    return None


def _is_set_up_by_the_api(cluster: Cluster) -> bool:
    """Return whether the request describes Slurm, in a group or in the cluster's own settings."""
    groups = (group.spec for group in cluster.groups.values())
    return "Slurm" in (cluster.settings.get("Orchestrator") or {}) or any("SlurmConfig" in spec for spec in groups)


def _exists(cluster: Cluster, bucket: str, key: str) -> bool:
    from moto.s3.models import s3_backends  # noqa: PLC0415  moto is loaded once the environment is set

    s3 = s3_backends[cluster.account][cluster.partition]
    return bucket in s3.buckets and s3.get_object(bucket, key) is not None
