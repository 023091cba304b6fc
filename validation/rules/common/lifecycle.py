"""Check custom lifecycle scripts."""

from collections.abc import Iterator
from pathlib import Path

from config.errors import Level, Problem
from config.lifecycle import Follow
from config.local_folder import content_of
from config.model import ClusterConfig, Orchestrator
from config.suggestions import either, nearest
from validation.rules.registry import rule

# The folders of `extra`, named after the time at which their scripts run.
SCRIPT_FOLDERS = ("before_slurm", "after_slurm", "controller_ready", "live")
KUBERNETES_FOLDERS = ("before_kubernetes", "after_kubernetes")

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
        message = "not run, as `source` replaces the scripts that run it"
        yield Problem(("lifecycle", "extra"), folders["extra"].name, message, "run it from your scripts, or remove `source`")


@rule("follow-live", "lifecycle")
def follow_live(config: ClusterConfig) -> Iterator[Problem]:
    """`lifecycle.follow: live` requires the default scripts.

    The default scripts install the agent that changes running nodes.
    """
    lifecycle = config.lifecycle
    if lifecycle.follow is not Follow.LIVE:
        return
    path, value = ("lifecycle", "follow"), lifecycle.follow.value
    if lifecycle.source is not None:
        yield Problem(
            path, value, "not supported with `source`, whose scripts install no agent", "set `new_nodes`, or use `extra`"
        )


@rule("extra-script-folders", "lifecycle", level=Level.WARNING)
def extra_script_folders(config: ClusterConfig) -> Iterator[Problem]:
    """Everything in `lifecycle.extra` must be in one of the folders `before_slurm`, `after_slurm`, `controller_ready` and `live`.

    Scripts elsewhere never run. With Amazon EKS, the folders are `before_kubernetes` and `after_kubernetes`.
    """
    folder, path = config.lifecycle.extra, ("lifecycle", "extra")
    if folder is None or config.lifecycle.source is not None:
        return
    points = KUBERNETES_FOLDERS if config.orchestrator is Orchestrator.EKS else SCRIPT_FOLDERS
    content = content_of(folder)
    if not content.files and not content.problems:
        yield Problem(
            path,
            folder.name,
            "contains no scripts",
            f"add them to {either([f'{point}/' for point in points])} in this folder",
        )
    for name in sorted({file.partition("/")[0] for file in content.files} - {*points}):
        if name.lower().startswith(("readme", ".")):
            continue
        meant = nearest(name, points)
        elsewhere = f"move it into {either(points)}, or suppress this warning if your scripts use it"
        yield Problem(path, name, "never runs", meant if meant.startswith("did") else elsewhere)


@rule("lifecycle-files", "lifecycle")
def lifecycle_files(config: ClusterConfig) -> Iterator[Problem]:
    """All files in `lifecycle.source` and `lifecycle.extra` must be readable, and within the limits on number and size.

    A file that cannot be copied is missing on every node, and large folders delay the start of every node.
    """
    for field, folder in _folders(config).items():
        content = content_of(folder)
        for name, parts in content.problems.items():
            yield Problem(("lifecycle", field), name, *parts)
        size = sum(file.stat().st_size for file in content.files.values()) // 2**20
        if len(content.files) > MAX_FILES or size > MAX_MIB:
            message = f"{len(content.files)} files of {size} MiB are too much for every node to download"
            fix = f"use a folder with only scripts, at most {MAX_FILES} files and {MAX_MIB} MiB"
            yield Problem(("lifecycle", field), folder.name, message, fix)
