"""Check what sets up a group's nodes: the default scripts, custom scripts, or `SlurmConfig`; and that the scripts exist."""

from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest, GroupMember
from cluster_request.request import NODE_TYPES
from config.errors import Level, Problem
from config.instance_group import Role
from config.lifecycle import ON_CREATE
from config.local_folder import content_of
from config.model import slurm_of
from config.suggestions import either, nearest
from validation.rules.registry import FILE_SYSTEMS, request_rule, slurm_request_rule

SCRIPTS = ("OnCreate", "OnInitComplete")


def uses_uploaded_scripts(group: GroupMember) -> bool:
    """Return whether the group's nodes download the scripts that the deployment uploads."""
    return not group.member("LifeCycleConfig", "SourceS3Uri").is_overridden


@slurm_request_rule("slurm-config-conflict", "instance_groups[]", "overrides")
def slurm_config_conflict(request: EffectiveRequest) -> Iterator[Problem]:
    """With `slurm.setup: scripts`, a cluster with uploaded scripts must not have `SlurmConfig` or `Orchestrator.Slurm`.

    HyperPod rejects them together with provisioning_parameters.json, which is uploaded with the scripts, after network and
    storage are created; the deployment rolls back.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-slurm-api-config-migration.html
    # https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    ours = [group.name for group in request.groups if uses_uploaded_scripts(group)]
    if request.config.uses_slurm_api or not ours:
        return
    problem = "HyperPod rejects it together with the uploaded provisioning_parameters.json"
    for group in request.groups:
        if (given := group.member("SlurmConfig")).is_given:
            yield given.problem(problem, _fix(group, ours))
    if (slurm := request.member("Orchestrator", "Slurm")).is_given:
        yield slurm.problem(problem, "remove it")


def _fix(group: GroupMember, ours: list[str]) -> str:
    """Return a fix after which the group still has Slurm."""
    if not uses_uploaded_scripts(group):
        return f"also set `LifeCycleConfig: null` and `SlurmConfig` in {either(ours)}, or set `slurm.setup: api`"
    if group.member("LifeCycleConfig", "OnInitComplete").is_given:
        return "set `LifeCycleConfig.SourceS3Uri` to a folder without that file"
    return "remove it, as `role` and `partition` already set this"


@request_rule("incomplete-lifecycle-config", "instance_groups[]")
def incomplete_lifecycle_config(request: EffectiveRequest) -> Iterator[Problem]:
    """A group's `LifeCycleConfig` must have a `SourceS3Uri` and a script, `OnCreate` or `OnInitComplete`.

    HyperPod rejects an incomplete one, after network and storage are created; the deployment rolls back.
    """
    # "Common validation errors" of https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    for group in request.groups:
        scripts = group.member("LifeCycleConfig")
        if not scripts.is_given:
            continue
        named = [name for name in SCRIPTS if scripts.member(name).is_given]
        if not named:
            yield scripts.problem(
                "has no script",
                "remove it to use the default scripts, or add `OnCreate`",
                group.group.overrides["LifeCycleConfig"],
            )
        elif not (prefix := scripts.member("SourceS3Uri")).is_given:
            message = f"required by `{named[0]}`"
            yield prefix.problem(message, "remove this line to use the default scripts, or set the script's S3 prefix", None)


@slurm_request_rule("api-setup-storage", "instance_groups[]", *FILE_SYSTEMS, "slurm.setup")
def api_setup_storage(request: EffectiveRequest) -> Iterator[Problem]:
    """With `slurm.setup: api`, a group's `overrides.InstanceStorageConfigs` must not replace the cluster's file systems.

    HyperPod mounts the file systems from this list: the nodes would have none, and their scripts fail.
    """
    if not request.config.uses_slurm_api or not request.config.storage.file_systems:
        return
    for storage in (group.member("InstanceStorageConfigs") for group in request.groups):
        if storage.is_overridden:
            yield storage.problem(
                "replaces the mounts of the cluster's file systems", "use `volume_gib`, or `slurm.setup: scripts`"
            )


@slurm_request_rule("nodes-without-slurm", "instance_groups[]")
def nodes_without_slurm(request: EffectiveRequest) -> Iterator[Problem]:
    """A group with `LifeCycleConfig: null` requires a `SlurmConfig`.

    Without scripts, HyperPod sets up Slurm by `SlurmConfig`; without both, the nodes cost money, but run no jobs.
    """
    # "AMI-based configuration" of https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    for group in request.groups:
        scripts, role = group.member("LifeCycleConfig"), group.group.role
        if role and not scripts.is_given and not group.member("SlurmConfig").is_given:
            partitions = f", PartitionNames: [{group.group.partition}]" if role is Role.COMPUTE else ""
            fix = f"remove it to use the default scripts, or add `SlurmConfig: {{NodeType: {NODE_TYPES[role]}{partitions}}}`"
            yield scripts.problem("nodes would have neither scripts nor Slurm", fix, None)


@slurm_request_rule("pam-slurm-adopt-missing", "slurm.restrict_ssh", "instance_groups[]", "lifecycle.source", level=Level.WARNING)
def pam_slurm_adopt_missing(request: EffectiveRequest) -> Iterator[Problem]:
    """`slurm.restrict_ssh: true` requires an `image_id` in each compute group, of an image with pam_slurm_adopt.

    HyperPod's own images do not contain the module: every compute node would fail after it starts.
    """
    # AWS's scripts build it: utils/pam_adopt_cgroup_wheel.sh of https://github.com/awslabs/awsome-distributed-training
    if not slurm_of(request.config).restrict_ssh or request.config.lifecycle.source is not None:
        return
    compute = [group for group in request.of_role(Role.COMPUTE) if uses_uploaded_scripts(group)]
    without = [group.name for group in compute if not group.member("ImageId").is_given]
    if without:
        message = "requires pam_slurm_adopt, which HyperPod's images do not contain"
        fix = (
            f"set false, set `image_id` in {either(without)}, or suppress this warning if a script in `before_slurm/` installs it"
        )
        yield Problem(("slurm", "restrict_ssh"), value=True, message=message, fix=fix)


@request_rule("missing-on-create", "lifecycle", "instance_groups[]")
def missing_on_create(request: EffectiveRequest) -> Iterator[Problem]:
    """`lifecycle.on_create` must be a file in `lifecycle.source`, if any group starts it.

    HyperPod starts this file on each node; if it is missing, every node fails after it starts.
    """
    lifecycle = request.config.lifecycle
    path = ("lifecycle", "on_create")
    if lifecycle.source is None:
        if "on_create" in lifecycle.model_fields_set:
            yield Problem(path, lifecycle.on_create, "requires `source`", "add `source`, or remove this line")
        return
    files = [name for name in content_of(lifecycle.source).files if "/" not in name]
    is_started = any(_starts_on_create(group) for group in request.groups)
    if is_started and lifecycle.on_create not in files:
        message = f"not found in {lifecycle.source.name}"
        yield Problem(path, lifecycle.on_create, message, nearest(lifecycle.on_create, files) if files else "add it")


def _starts_on_create(group: GroupMember) -> bool:
    """Return whether the group runs `lifecycle.on_create`; `overrides` can replace it, or leave it out."""
    return uses_uploaded_scripts(group) and not group.member("LifeCycleConfig", "OnCreate").is_overridden


@request_rule("missing-lifecycle-script", "lifecycle", "instance_groups[]")
def missing_lifecycle_script(request: EffectiveRequest) -> Iterator[Problem]:
    """A group's `overrides.LifeCycleConfig` without `SourceS3Uri` must name a script that the deployment uploads.

    HyperPod looks for it among the uploaded scripts; if it is missing, every node fails after it starts.
    """
    source = request.config.lifecycle.source
    files = [ON_CREATE] if source is None else sorted(name for name in content_of(source).files if "/" not in name)
    where = "the default scripts" if source is None else source.name
    for group in filter(uses_uploaded_scripts, request.groups):
        for script in (group.member("LifeCycleConfig", name) for name in SCRIPTS):
            if script.is_overridden and script.text and script.text not in files:
                fix = "set `lifecycle.source` to the folder that contains it" if source is None else "add it"
                yield script.problem(f"not found in {where}", f"{fix}, or set `SourceS3Uri` and `execution_role`")
