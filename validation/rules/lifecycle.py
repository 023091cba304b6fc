"""Rules about the user's own scripts."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from config.errors import Level, Problem
from config.instance_group import InstanceGroup
from config.lifecycle import ON_CREATE
from config.local_folder import content_of
from config.model import ClusterConfig
from config.suggestions import either, nearest
from validation.entries import numbered
from validation.rules.registry import rule
from validation.rules.slurm_setup import uses_our_prefix
from validation.rules.verbatim import member, text

# When scripts of `extra` run; the folders are named after it.
POINTS = ("before_slurm", "after_slurm", "controller_ready")

# Every node downloads all of it before anything runs.
MOST_FILES, MOST_MIB = 2000, 100


def _folders(config: ClusterConfig) -> dict[str, Path]:
    named = {"source": config.lifecycle.source, "extra": config.lifecycle.extra}
    return {name: folder for name, folder in named.items() if folder is not None}


@rule("source-or-extra", "lifecycle")
def source_or_extra(config: ClusterConfig) -> Iterator[Problem]:
    """`lifecycle.source` replaces our scripts, so that nothing would run those of `lifecycle.extra`.

    Scripts that never run look like scripts that did nothing wrong.
    """
    folders = _folders(config)
    if len(folders) == 2:
        message = "our scripts run these, and `source` replaces ours; start them from your own, or remove `source`"
        yield Problem(("lifecycle", "extra"), folders["extra"].name, message)


@rule("on-create-of-the-source", "lifecycle", "instance_groups[]")
def on_create_of_the_source(config: ClusterConfig) -> Iterator[Problem]:
    """`lifecycle.on_create` is a file in `lifecycle.source`, where a group starts it.

    HyperPod starts this file on each node; when it is not there, every node fails, once it has been paid for.
    """
    lifecycle = config.lifecycle
    path = ("lifecycle", "on_create")
    if lifecycle.source is None:
        if "on_create" in lifecycle.model_fields_set:
            yield Problem(
                path, lifecycle.on_create, "is a script of `source`, and there is none; add `source`, or remove this line"
            )
        return
    files = [name for name in content_of(lifecycle.source).files if "/" not in name]
    is_started = any(_starts_on_create(group) for _, group in numbered(config.instance_groups))
    if is_started and lifecycle.on_create not in files:
        message = f"is no file in {lifecycle.source.name}; {nearest(lifecycle.on_create, files) if files else 'put it there'}"
        yield Problem(path, lifecycle.on_create, message)


def _starts_on_create(group: InstanceGroup) -> bool:
    """Return whether the group runs `lifecycle.on_create`; `overrides` can replace it, or leave it out."""
    return uses_our_prefix(group) and "OnCreate" not in group.overrides.get("LifeCycleConfig", {})


@rule("scripts-that-groups-start", "lifecycle", "instance_groups[]")
def scripts_that_groups_start(config: ClusterConfig) -> Iterator[Problem]:
    """A group whose `overrides.LifeCycleConfig` names a script, but no `SourceS3Uri`, names one that this project uploads.

    HyperPod looks for it among this project's scripts; when it is not there, every node fails, once it has been paid for.
    """
    source = config.lifecycle.source
    files = [ON_CREATE] if source is None else sorted(name for name in content_of(source).files if "/" not in name)
    where = "our scripts" if source is None else source.name
    for index, group in numbered(config.instance_groups):
        scripts = member(group.overrides, "LifeCycleConfig")
        if isinstance(scripts, Mapping) and "SourceS3Uri" in scripts:  # from elsewhere; null is of a cluster that has none
            continue
        for name in ("OnCreate", "OnInitComplete"):
            if (script := text(scripts, name)) and script not in files:
                remedy = "set `lifecycle.source` to the folder that has it" if source is None else "put it there"
                message = f"is no file in {where}; {remedy}, or give `SourceS3Uri` and `ExecutionRole` beside it"
                yield Problem(("instance_groups", index, "overrides", "LifeCycleConfig", name), script, message)


@rule("points-of-extra-scripts", "lifecycle", level=Level.WARNING)
def points_of_extra_scripts(config: ClusterConfig) -> Iterator[Problem]:
    """All in `lifecycle.extra` is in one of the folders `before_slurm`, `after_slurm` and `controller_ready`.

    Scripts that never run look like scripts that did nothing wrong.
    """
    folder, path = config.lifecycle.extra, ("lifecycle", "extra")
    if folder is None or config.lifecycle.source is not None:
        return
    content = content_of(folder)
    if not content.files and not content.problems:
        yield Problem(path, folder.name, f"has no scripts; put them into {either([f'{point}/' for point in POINTS])} in it")
    for name in sorted({file.partition("/")[0] for file in content.files} - {*POINTS}):
        if name.lower().startswith(("readme", ".")):
            continue
        meant = nearest(name, POINTS)
        elsewhere = f"move it into {either(POINTS)}, or silence this if your scripts use it"
        yield Problem(path, name, f"is run at no point; {meant if meant.startswith('did') else elsewhere}")


@rule("files-that-nodes-can-get", "lifecycle")
def files_that_nodes_can_get(config: ClusterConfig) -> Iterator[Problem]:
    """All in `lifecycle.source` and `lifecycle.extra` can be copied, and is not more than nodes can be asked to download.

    What cannot be copied is missing on every node, and what is too large makes each of them slow to start.
    """
    for field, folder in _folders(config).items():
        content = content_of(folder)
        for name, problem in content.problems.items():
            yield Problem(("lifecycle", field), name, problem)
        size = sum(file.stat().st_size for file in content.files.values()) // 2**20
        if len(content.files) > MOST_FILES or size > MOST_MIB:
            message = (
                f"has {len(content.files)} files of {size} MiB, which every node would download; "
                f"name a folder with scripts alone, at most {MOST_FILES} files and {MOST_MIB} MiB"
            )
            yield Problem(("lifecycle", field), folder.name, message)
