"""Check custom lifecycle scripts."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from config.errors import Level, Problem
from config.instance_group import InstanceGroup
from config.lifecycle import ON_CREATE
from config.local_folder import content_of
from config.model import ClusterConfig
from config.suggestions import either, nearest
from validation.entries import numbered
from validation.rules.overrides import member, text
from validation.rules.registry import rule
from validation.rules.slurm_setup import uses_uploaded_scripts

# The folders of `extra`, named after the time at which their scripts run.
SCRIPT_FOLDERS = ("before_slurm", "after_slurm", "controller_ready")

# Every node downloads all files before any script runs.
MAX_FILES, MAX_MIB = 2000, 100


def _folders(config: ClusterConfig) -> dict[str, Path]:
    named = {"source": config.lifecycle.source, "extra": config.lifecycle.extra}
    return {name: folder for name, folder in named.items() if folder is not None}


@rule("lifecycle-source-conflict", "lifecycle")
def lifecycle_source_conflict(config: ClusterConfig) -> Iterator[Problem]:
    """`lifecycle.source` and `lifecycle.extra` exclude each other.

    The default scripts run those of `extra`, and `source` replaces the default scripts.
    """
    folders = _folders(config)
    if len(folders) == 2:
        message = "not run, as `source` replaces the scripts that run it; run it from your scripts, or remove `source`"
        yield Problem(("lifecycle", "extra"), folders["extra"].name, message)


@rule("missing-on-create", "lifecycle", "instance_groups[]")
def missing_on_create(config: ClusterConfig) -> Iterator[Problem]:
    """`lifecycle.on_create` must be a file in `lifecycle.source`, if any group starts it.

    HyperPod starts this file on each node; if it is missing, every node fails after it starts.
    """
    lifecycle = config.lifecycle
    path = ("lifecycle", "on_create")
    if lifecycle.source is None:
        if "on_create" in lifecycle.model_fields_set:
            yield Problem(path, lifecycle.on_create, "requires `source`; add `source`, or remove this line")
        return
    files = [name for name in content_of(lifecycle.source).files if "/" not in name]
    is_started = any(_starts_on_create(group) for _, group in numbered(config.instance_groups))
    if is_started and lifecycle.on_create not in files:
        message = f"not found in {lifecycle.source.name}; {nearest(lifecycle.on_create, files) if files else 'add it'}"
        yield Problem(path, lifecycle.on_create, message)


def _starts_on_create(group: InstanceGroup) -> bool:
    """Return whether the group runs `lifecycle.on_create`; `overrides` can replace it, or leave it out."""
    return uses_uploaded_scripts(group) and "OnCreate" not in group.overrides.get("LifeCycleConfig", {})


@rule("missing-lifecycle-script", "lifecycle", "instance_groups[]")
def missing_lifecycle_script(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides.LifeCycleConfig` without `SourceS3Uri` must name a script that the deployment uploads.

    HyperPod looks for it among the uploaded scripts; if it is missing, every node fails after it starts.
    """
    source = config.lifecycle.source
    files = [ON_CREATE] if source is None else sorted(name for name in content_of(source).files if "/" not in name)
    where = "the default scripts" if source is None else source.name
    for index, group in numbered(config.instance_groups):
        scripts = member(group.overrides, "LifeCycleConfig")
        if isinstance(scripts, Mapping) and "SourceS3Uri" in scripts:  # null is for a group without scripts
            continue
        for name in ("OnCreate", "OnInitComplete"):
            if (script := text(scripts, name)) and script not in files:
                fix = "set `lifecycle.source` to the folder that contains it" if source is None else "add it"
                message = f"not found in {where}; {fix}, or set `SourceS3Uri` and `ExecutionRole`"
                yield Problem(("instance_groups", index, "overrides", "LifeCycleConfig", name), script, message)


@rule("extra-script-folders", "lifecycle", level=Level.WARNING)
def extra_script_folders(config: ClusterConfig) -> Iterator[Problem]:
    """Everything in `lifecycle.extra` must be in one of the folders `before_slurm`, `after_slurm` and `controller_ready`.

    Scripts elsewhere never run.
    """
    folder, path = config.lifecycle.extra, ("lifecycle", "extra")
    if folder is None or config.lifecycle.source is not None:
        return
    content = content_of(folder)
    if not content.files and not content.problems:
        yield Problem(
            path,
            folder.name,
            f"contains no scripts; add them to {either([f'{point}/' for point in SCRIPT_FOLDERS])} in this folder",
        )
    for name in sorted({file.partition("/")[0] for file in content.files} - {*SCRIPT_FOLDERS}):
        if name.lower().startswith(("readme", ".")):
            continue
        meant = nearest(name, SCRIPT_FOLDERS)
        elsewhere = f"move it into {either(SCRIPT_FOLDERS)}, or suppress this warning if your scripts use it"
        yield Problem(path, name, f"never runs; {meant if meant.startswith('did') else elsewhere}")


@rule("lifecycle-files", "lifecycle")
def lifecycle_files(config: ClusterConfig) -> Iterator[Problem]:
    """All files in `lifecycle.source` and `lifecycle.extra` must be readable, and within the limits on number and size.

    A file that cannot be copied is missing on every node, and large folders delay the start of every node.
    """
    for field, folder in _folders(config).items():
        content = content_of(folder)
        for name, problem in content.problems.items():
            yield Problem(("lifecycle", field), name, problem)
        size = sum(file.stat().st_size for file in content.files.values()) // 2**20
        if len(content.files) > MAX_FILES or size > MAX_MIB:
            message = (
                f"{len(content.files)} files of {size} MiB are too much for every node to download; use a folder with only "
                f"scripts, at most {MAX_FILES} files and {MAX_MIB} MiB"
            )
            yield Problem(("lifecycle", field), folder.name, message)
