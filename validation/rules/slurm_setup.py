"""Check what sets up Slurm on a group's nodes: the default scripts, custom scripts, or `SlurmConfig`."""

from collections.abc import Iterator, Mapping
from typing import Any

from cluster_request.request import merged
from config.errors import Level, Path, Problem
from config.instance_group import InstanceGroup, Role
from config.lifecycle import ON_CREATE
from config.model import ClusterConfig
from config.suggestions import either
from validation.entries import numbered
from validation.rules.overrides import member
from validation.rules.registry import rule

MEMBER = "LifeCycleConfig"
SCRIPTS = ("OnCreate", "OnInitComplete")
UPLOADED_PREFIX = "the prefix of the scripts that the deployment uploads"
OURS: Mapping[str, Any] = {"SourceS3Uri": UPLOADED_PREFIX, "OnCreate": ON_CREATE}
NODE_TYPES = {Role.CONTROLLER: "Controller", Role.LOGIN: "Login", Role.COMPUTE: "Compute"}


def lifecycle_config(group: InstanceGroup) -> Mapping[str, Any] | None:
    """Return the `LifeCycleConfig` of the group's request, or None if `overrides` remove it."""
    given = group.overrides.get(MEMBER, {})
    if given is None:
        return None
    # The request check reports a value of another type.
    return merged(OURS, given) if isinstance(given, Mapping) else OURS


def uses_uploaded_scripts(group: InstanceGroup) -> bool:
    """Return whether the group's nodes download the uploaded scripts and their provisioning_parameters.json."""
    return (lifecycle_config(group) or {}).get("SourceS3Uri") == UPLOADED_PREFIX


@rule("slurm-config-conflict", "instance_groups[]", "overrides")
def slurm_config_conflict(config: ClusterConfig) -> Iterator[Problem]:
    """A cluster with uploaded scripts must not have `SlurmConfig` or `Orchestrator.Slurm`.

    HyperPod rejects them together with provisioning_parameters.json, which is uploaded with the scripts, after network and
    storage are created; the deployment rolls back.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html
    # https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    ours = [group.name for _, group in numbered(config.instance_groups) if uses_uploaded_scripts(group)]
    problem = "HyperPod rejects it together with the uploaded provisioning_parameters.json"
    for index, group in numbered(config.instance_groups):
        given = member(group.overrides, "SlurmConfig")
        if ours and given is not None:
            path: Path = ("instance_groups", index, "overrides", "SlurmConfig")
            yield Problem(path, given, f"{problem}; {_fix(group, ours)}")
    slurm = member(config.overrides, "Orchestrator", "Slurm")
    if ours and slurm is not None:
        yield Problem(("overrides", "Orchestrator", "Slurm"), slurm, f"{problem}; remove it")


def _fix(group: InstanceGroup, ours: list[str]) -> str:
    """Return a fix after which the group still has Slurm."""
    scripts = lifecycle_config(group)
    if not uses_uploaded_scripts(group):
        return f"also set `LifeCycleConfig: null` and `SlurmConfig` in {either(ours)}"
    if scripts and "OnInitComplete" in scripts:
        return "set `LifeCycleConfig.SourceS3Uri` to a folder without that file"
    return "remove it, as `role` and `partition` already set this"


@rule("incomplete-lifecycle-config", "instance_groups[]")
def incomplete_lifecycle_config(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `LifeCycleConfig` must have a `SourceS3Uri` and a script, `OnCreate` or `OnInitComplete`.

    HyperPod rejects an incomplete one, after network and storage are created; the deployment rolls back.
    """
    # "Common validation errors" of https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    for index, group in numbered(config.instance_groups):
        scripts = lifecycle_config(group)
        if scripts is None:
            continue
        path: Path = ("instance_groups", index, "overrides", MEMBER)
        named = [name for name in SCRIPTS if name in scripts]
        if not named:
            message = "has no script; remove it to use the default scripts, or add `OnCreate`"
            yield Problem(path, group.overrides[MEMBER], message)
        elif "SourceS3Uri" not in scripts:
            message = f"required by `{named[0]}`; remove this line to use the default scripts, or set the script's S3 prefix"
            yield Problem((*path, "SourceS3Uri"), None, message)


@rule("nodes-without-slurm", "instance_groups[]")
def nodes_without_slurm(config: ClusterConfig) -> Iterator[Problem]:
    """A group with `LifeCycleConfig: null` requires a `SlurmConfig`.

    Without scripts, HyperPod sets up Slurm by `SlurmConfig`; without both, the nodes cost money, but run no jobs.
    """
    # "AMI-based configuration" of https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    for index, group in numbered(config.instance_groups):
        if lifecycle_config(group) is None and member(group.overrides, "SlurmConfig") is None:
            partitions = f", PartitionNames: [{group.partition}]" if group.role is Role.COMPUTE else ""
            message = (
                "nodes would have neither scripts nor Slurm; remove it to use the default scripts, or add `SlurmConfig: "
                f"{{NodeType: {NODE_TYPES[group.role]}{partitions}}}`"
            )
            yield Problem(("instance_groups", index, "overrides", MEMBER), None, message)


@rule("pam-slurm-adopt-missing", "slurm.restrict_ssh", "instance_groups[]", "lifecycle.source", level=Level.WARNING)
def pam_slurm_adopt_missing(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.restrict_ssh: true` requires an `ImageId` in each compute group, of an image with pam_slurm_adopt.

    HyperPod's own images do not contain the module: every compute node would fail after it starts.
    """
    # AWS's scripts build it: utils/pam_adopt_cgroup_wheel.sh of https://github.com/awslabs/awsome-distributed-training
    if not config.slurm.restrict_ssh or config.lifecycle.source is not None:
        return
    compute = [
        group for _, group in numbered(config.instance_groups) if group.role is Role.COMPUTE and uses_uploaded_scripts(group)
    ]
    without = [group.name for group in compute if group.overrides.get("ImageId") is None]
    if without:
        message = (
            f"requires pam_slurm_adopt, which HyperPod's images do not contain; set false, set `ImageId` in {either(without)}, "
            "or suppress this warning if a script in `before_slurm/` installs it"
        )
        yield Problem(("slurm", "restrict_ssh"), value=True, message=message)
