"""Check how the cluster is created, adopted, recreated and removed."""

from collections.abc import Iterator

from config.errors import ABSENT, Level, Problem
from config.model import ClusterConfig
from config.section import Removal
from validation.rules.registry import rule


@rule("adopt-requirements", "adopt", "cluster_name", "network", "instance_groups", "removal")
def adopt_requirements(config: ClusterConfig) -> Iterator[Problem]:
    """`adopt` requires `cluster_name`, and `removal: retain` or an existing network and `execution_role`.

    Adopting a cluster must not replace its nodes, which another role, subnet or security group would do.
    """
    if not config.adopt:
        return
    if config.cluster_name is None:
        yield Problem(("cluster_name",), ABSENT, "required by `adopt`", "add the name of the existing cluster")
    if config.removal is Removal.RETAIN:  # role and network may belong to the previous stack
        return
    if config.network.existing is None:
        yield Problem(
            ("network", "existing"),
            ABSENT,
            "required by `adopt`, as a cluster cannot change its subnets and security groups",
            "add them",
        )
    for index, group in enumerate(config.instance_groups):
        if group.execution_role is None and "ExecutionRole" not in group.overrides:
            path = ("instance_groups", index, "execution_role")
            yield Problem(path, ABSENT, "required by `adopt`, as a group cannot change its role", "add the current role")


@rule("adopt-or-recreate", "adopt", "recreate")
def adopt_or_recreate(config: ClusterConfig) -> Iterator[Problem]:
    """`recreate` and `adopt` exclude each other.

    The deployment never creates a cluster that it adopts, so `recreate` would have no effect.
    """
    if config.adopt and config.recreate:
        message = "has no effect with `adopt`"
        yield Problem(("recreate",), value=True, message=message, fix="remove it, or remove `adopt` after the cluster is adopted")


@rule("retain-storage", "removal", "storage")
def retain_storage(config: ClusterConfig) -> Iterator[Problem]:
    """A cluster with `removal: retain` requires `removal: retain` for its file system and its data bucket.

    Otherwise the nodes keep running, at cost, with a file system that hangs or whose files are deleted with the bucket.
    """
    if config.removal is not Removal.RETAIN:
        return
    bucket = config.storage.data_bucket
    for name, created in config.storage.created_file_systems.items():
        if created.removal is Removal.DESTROY:
            message = "nodes of a cluster with `removal: retain` keep using the file system"
            yield Problem(("storage", name, "removal"), created.removal.value, message, "set `retain`, or destroy both")
    is_made = bucket.existing is None and any(one.bucket is None for one in config.storage.data_repository_associations)
    if is_made and bucket.removal is Removal.DESTROY:
        message = "nodes of a cluster with `removal: retain` keep reading files from the bucket"
        yield Problem(("storage", "data_bucket", "removal"), bucket.removal.value, message, "set `retain`")


@rule("untested-trust-policy", "trust_source_account", level=Level.WARNING)
def untested_trust_policy(config: ClusterConfig) -> Iterator[Problem]:
    """The node role's trust policy should not check aws:SourceAccount (`trust_source_account: false`).

    It is not documented that HyperPod sends it. If it does not, no node can assume the role, and the cluster fails.
    """
    if config.trust_source_account:
        yield Problem(
            ("trust_source_account",),
            True,
            "not confirmed to work with HyperPod",
            "test it on a small cluster, then suppress this warning",
        )
