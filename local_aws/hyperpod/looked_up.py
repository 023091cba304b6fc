"""Nodes that do not run: their lifecycle scripts are looked up with the execution role, and the log says that this is all."""

from local_aws.hyperpod.logs import NodeLog
from local_aws.hyperpod.model import Cluster
from local_aws.hyperpod.node_runner import Done, Launch, Outcome
from local_aws.hyperpod.roles import ExecutionRole
from local_aws.json_service import Context, Json

PARAMETERS = "provisioning_parameters.json"


class LookedUp:
    """A node runner that runs nothing: a node has started well if its scripts are there and its role may read them."""

    def start(self, launch: Launch, done: Done) -> None:
        """Look the scripts up, write the node's log and say how it went."""
        failure, lines = _look_up(launch)
        log = NodeLog(launch.cluster, launch.node)
        log.write([*lines, failure] if failure else lines)
        done(Outcome(f"Lifecycle scripts did not run successfully: {failure}. See {log.place}" if failure else None))

    def stop(self, node_id: str) -> None:
        """Do nothing: no node runs."""

    def reset(self) -> None:
        """Do nothing: no node runs."""


def _look_up(launch: Launch) -> tuple[str | None, list[str]]:
    spec = launch.node.spec
    config = spec.get("LifeCycleConfig") or {}
    uri = config.get("SourceS3Uri")
    if not uri:
        return None, ["the group names no lifecycle scripts"]
    bucket, _, prefix = uri.partition("://")[2].partition("/")
    prefix = prefix.strip("/")
    script = _key(prefix, config.get("OnCreate") or config.get("OnInitComplete") or "")
    role = ExecutionRole.of(launch.cluster, spec)
    failure = _refused(launch.cluster, role, bucket, script) or _misplaced(launch.cluster, spec, bucket, prefix, script)
    lines = [f"lifecycle scripts: {uri}", f"script: {script}"]
    return failure, lines if failure else [*lines, "the embedded AWS looked the scripts up and did not run them"]


def _refused(cluster: Cluster, role: ExecutionRole, bucket: str, script: str) -> str | None:
    arn = f"arn:{cluster.partition}:s3:::{bucket}"
    folder = script.rpartition("/")[0]
    needed: tuple[tuple[str, str, Context], ...] = (
        ("s3:ListBucket", arn, {"s3:prefix": f"{folder}/" if folder else ""}),
        ("s3:GetObject", f"{arn}/{script}", {}),
    )
    for action, resource, context in needed:
        if not role.may(action, resource, context):
            return f"the execution role {role.arn} is not authorized to perform {action} on {resource}"
    return None


def _misplaced(cluster: Cluster, spec: Json, bucket: str, prefix: str, script: str) -> str | None:
    """Why the scripts in S3 cannot be the right ones, or None."""
    if not _exists(cluster, bucket, script):
        return f"could not download s3://{bucket}/{script}: there is no such object"
    if "SlurmConfig" in spec and _exists(cluster, bucket, _key(prefix, PARAMETERS)):
        return f"SlurmConfig and {PARAMETERS} cannot be used together, and s3://{bucket}/{prefix} holds the file"
    return None


def _key(prefix: str, name: str) -> str:
    return "/".join(part for part in (prefix, name) if part)


def _exists(cluster: Cluster, bucket: str, key: str) -> bool:
    from moto.s3.models import s3_backends  # noqa: PLC0415  moto is loaded once the environment is set

    s3 = s3_backends[cluster.account][cluster.partition]
    return bucket in s3.buckets and s3.get_object(bucket, key) is not None
