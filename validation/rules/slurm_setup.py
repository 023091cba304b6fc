"""Rules about what sets up Slurm on a group's nodes: this project's scripts, the user's own, or HyperPod by `SlurmConfig`."""

from collections.abc import Iterator, Mapping
from typing import Any

from cluster_request.request import merged
from config.errors import Level, Path, Problem
from config.instance_group import InstanceGroup, Role
from config.lifecycle import ON_CREATE
from config.model import ClusterConfig
from config.suggestions import either
from validation.entries import numbered
from validation.rules.registry import rule
from validation.rules.verbatim import member

MEMBER = "LifeCycleConfig"
SCRIPTS = ("OnCreate", "OnInitComplete")
OUR_PREFIX = "the prefix of the scripts that the deployment uploads"
OURS: Mapping[str, Any] = {"SourceS3Uri": OUR_PREFIX, "OnCreate": ON_CREATE}
NODE_TYPES = {Role.CONTROLLER: "Controller", Role.LOGIN: "Login", Role.COMPUTE: "Compute"}


def lifecycle_config(group: InstanceGroup) -> Mapping[str, Any] | None:
    """Return the `LifeCycleConfig` that the group's request has; None if `overrides` leave it out."""
    given = group.overrides.get(MEMBER, {})
    if given is None:
        return None
    # The check of the request reports a value of another type.
    return merged(OURS, given) if isinstance(given, Mapping) else OURS


def uses_our_prefix(group: InstanceGroup) -> bool:
    """Return whether the group's nodes download our prefix, which holds provisioning_parameters.json."""
    return (lifecycle_config(group) or {}).get("SourceS3Uri") == OUR_PREFIX


@rule("slurm-config-conflict", "instance_groups[]", "overrides")
def slurm_config_conflict(config: ClusterConfig) -> Iterator[Problem]:
    """A cluster with scripts that this project uploads has neither `SlurmConfig` nor `Orchestrator.Slurm`.

    HyperPod refuses them with the provisioning_parameters.json that is uploaded with the scripts, after network and storage are
    created; the deployment rolls back.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html
    # https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    ours = [group.name for _, group in numbered(config.instance_groups) if uses_our_prefix(group)]
    refused = "HyperPod refuses it with provisioning_parameters.json, which is uploaded with the scripts"
    for index, group in numbered(config.instance_groups):
        given = member(group.overrides, "SlurmConfig")
        if ours and given is not None:
            path: Path = ("instance_groups", index, "overrides", "SlurmConfig")
            yield Problem(path, given, f"{refused}; {_fix(group, ours)}")
    slurm = member(config.overrides, "Orchestrator", "Slurm")
    if ours and slurm is not None:
        yield Problem(("overrides", "Orchestrator", "Slurm"), slurm, f"{refused}; remove it")


def _fix(group: InstanceGroup, ours: list[str]) -> str:
    """Return a fix after which the group still has Slurm."""
    scripts = lifecycle_config(group)
    if not uses_our_prefix(group):
        return f"set `LifeCycleConfig: null` and `SlurmConfig` in {either(ours)}, too"
    if scripts and "OnInitComplete" in scripts:
        return "set `LifeCycleConfig.SourceS3Uri` to a folder without that file"
    return "remove it, as `role` and `partition` say the same"


@rule("incomplete-lifecycle-config", "instance_groups[]")
def incomplete_lifecycle_config(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `LifeCycleConfig` has a `SourceS3Uri` and a script in it, `OnCreate` or `OnInitComplete`.

    HyperPod refuses an incomplete one, after network and storage are created; the deployment rolls back.
    """
    # "Common validation errors" of https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    for index, group in numbered(config.instance_groups):
        scripts = lifecycle_config(group)
        if scripts is None:
            continue
        path: Path = ("instance_groups", index, "overrides", MEMBER)
        named = [name for name in SCRIPTS if name in scripts]
        if not named:
            message = "names no script; remove it to use this project's scripts, or add `OnCreate`"
            yield Problem(path, group.overrides[MEMBER], message)
        elif "SourceS3Uri" not in scripts:
            message = f"`{named[0]}` requires it; remove this line to use this project's scripts, or name the script's folder"
            yield Problem((*path, "SourceS3Uri"), None, message)


@rule("nodes-without-slurm", "instance_groups[]")
def nodes_without_slurm(config: ClusterConfig) -> Iterator[Problem]:
    """A group with `LifeCycleConfig: null` has a `SlurmConfig`.

    Without scripts HyperPod sets Slurm up by `SlurmConfig`; without both, the nodes run and cost money, and no job reaches them.
    """
    # "AMI-based configuration" of https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    for index, group in numbered(config.instance_groups):
        if lifecycle_config(group) is None and member(group.overrides, "SlurmConfig") is None:
            partitions = f", PartitionNames: [{group.partition}]" if group.role is Role.COMPUTE else ""
            message = (
                "leaves the nodes without scripts and Slurm; remove it to use this project's scripts, "
                f"or add `SlurmConfig: {{NodeType: {NODE_TYPES[group.role]}{partitions}}}`"
            )
            yield Problem(("instance_groups", index, "overrides", MEMBER), None, message)


@rule("pam-slurm-adopt-missing", "slurm.restrict_ssh", "instance_groups[]", "lifecycle.source", level=Level.WARNING)
def pam_slurm_adopt_missing(config: ClusterConfig) -> Iterator[Problem]:
    """With `slurm.restrict_ssh: true`, each compute group has an `ImageId`, of an image with pam_slurm_adopt.

    HyperPod's own images lack the module: every compute node would fail, once it has been paid for.
    """
    # AWS's own scripts build it: utils/pam_adopt_cgroup_wheel.sh of https://github.com/awslabs/awsome-distributed-training
    if not config.slurm.restrict_ssh or config.lifecycle.source is not None:
        return
    compute = [group for _, group in numbered(config.instance_groups) if group.role is Role.COMPUTE and uses_our_prefix(group)]
    lacking = [group.name for group in compute if group.overrides.get("ImageId") is None]
    if lacking:
        message = (
            f"HyperPod's own images lack pam_slurm_adopt; set false, or `ImageId` in {either(lacking)} to an image with it, "
            "or silence this if a script in `before_slurm/` installs it"
        )
        yield Problem(("slurm", "restrict_ssh"), value=True, message=message)
