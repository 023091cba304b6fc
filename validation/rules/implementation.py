"""Rules about what makes the cluster, takes it over and lets it go."""

from collections.abc import Iterator

from config.errors import ABSENT, Level, Problem
from config.model import ClusterConfig, Implementation, Wait
from config.section import Removal
from validation.rules.registry import rule


@rule("adoption-by-name", "adopt", "cluster_name", "network", "instance_groups", "removal")
def adoption_by_name(config: ClusterConfig) -> Iterator[Problem]:
    """`adopt` needs `cluster_name`, and `network.existing` with every group's `overrides.ExecutionRole`, or `removal: retain`.

    Taking a cluster over must not replace its nodes, which a request with another role, subnet or security group would ask for.
    """
    if not config.adopt:
        return
    if config.cluster_name is None:
        yield Problem(("cluster_name",), ABSENT, "`adopt` needs the name of a cluster; add it")
    if config.removal is Removal.RETAIN:  # role and network may be those of the stack that the cluster was in before
        return
    if config.network.existing is None:
        yield Problem(("network", "existing"), ABSENT, "a cluster keeps its subnets and security groups for life; name them here")
    for index, group in enumerate(config.instance_groups):
        if "ExecutionRole" not in group.overrides:
            path = ("instance_groups", index, "overrides", "ExecutionRole")
            yield Problem(path, ABSENT, "a group keeps its role for life; add the one that it has")


@rule("adopted-or-made-anew", "adopt", "recreate")
def adopted_or_made_anew(config: ClusterConfig) -> Iterator[Problem]:
    """`recreate` does not go with `adopt`.

    A cluster that is to be adopted is never made: `recreate` would be written in the file and do nothing.
    """
    if config.adopt and config.recreate:
        message = "does nothing while `adopt` is set; remove it, or remove `adopt` once the cluster is taken over"
        yield Problem(("recreate",), value=True, message=message)


@rule("retained-with-its-storage", "removal", "storage")
def retained_with_its_storage(config: ClusterConfig) -> Iterator[Problem]:
    """A cluster with `removal: retain` keeps its file system and its data bucket: their `removal` is `retain`, too.

    The nodes would go on running, and be paid for, with a file system that hangs, or one whose files are gone with the bucket.
    """
    if config.removal is not Removal.RETAIN:
        return
    lustre, bucket = config.storage.lustre, config.storage.data_bucket
    if lustre and lustre.removal is Removal.DESTROY:
        message = "the nodes of a cluster with `removal: retain` go on using the file system; set `retain`, or destroy both"
        yield Problem(("storage", "lustre", "removal"), lustre.removal.value, message)
    is_made = bucket.existing is None and any(one.bucket is None for one in config.storage.data_repository_associations)
    if is_made and bucket.removal is Removal.DESTROY:
        message = "the nodes of a cluster with `removal: retain` go on reading files that only the bucket holds; set `retain`"
        yield Problem(("storage", "data_bucket", "removal"), bucket.removal.value, message)


@rule("let-go-before-it-leaves-the-stack", "implementation", "removal")
def let_go_before_it_leaves_the_stack(config: ClusterConfig) -> Iterator[Problem]:
    """`implementation: none` goes with `removal: retain`, which has to be deployed before it.

    CloudFormation deletes what leaves a template, by the policy that was deployed before.
    """
    if config.implementation is Implementation.NONE and config.removal is not Removal.RETAIN:
        message = "would delete the cluster with `implementation: none`; set `retain`, and deploy that alone first"
        yield Problem(("removal",), config.removal.value, message)


@rule("options-of-the-custom-resource", "implementation", "wait", "wait_hours", "adopt", "recreate", "alarm_topic_arn")
def options_of_the_custom_resource(config: ClusterConfig) -> Iterator[Problem]:
    """`wait`, `wait_hours`, `adopt`, `recreate` and `alarm_topic_arn` go with `implementation: custom_resource`.

    CloudFormation's own type has nothing like them: they would be written in the file and do nothing.
    """
    if config.implementation is not Implementation.NATIVE:
        return
    remedy = "is of the custom resource alone; remove it, or set `implementation: custom_resource`"
    if config.wait is not Wait.NODES:
        yield Problem(("wait",), config.wait.value, remedy)
    if config.wait_hours > 1:
        yield Problem(("wait_hours",), config.wait_hours, remedy)
    for field in ("adopt", "recreate"):
        if getattr(config, field):
            yield Problem((field,), value=True, message=remedy)
    if config.alarm_topic_arn is not None:
        yield Problem(("alarm_topic_arn",), config.alarm_topic_arn, remedy)


@rule("tried-trust-policy", "trust_source_account", level=Level.WARNING)
def tried_trust_policy(config: ClusterConfig) -> Iterator[Problem]:
    """The nodes' role trusts SageMaker without asking for aws:SourceAccount.

    Nobody has shown yet that HyperPod sends it: if it does not, no node can take the role, and the cluster fails.
    """
    if config.trust_source_account:
        yield Problem(("trust_source_account",), True, "is not known to work; try it on a small cluster, then silence this")
