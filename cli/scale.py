"""`./hpod scale CLUSTER GROUP N`: change a group's `instance_count` in the cluster file."""

import difflib
from pathlib import Path

from cli.cluster_files import cluster_path
from cli.cluster_folder import cdk_command
from cli.count_edit import with_count
from cli.errors import CommandError
from cli.result import Result, Verbatim
from config.errors import ConfigError
from validation.checked_file import check_source
from validation.load import check_clusters
from validation.yaml.reader import read_yaml


def scale(*, clusters: Path, cluster: str, group: str, count: int, dry_run: bool = False) -> Result:
    """Set the count, unless the new file has errors, and return the difference."""
    path = cluster_path(cluster, clusters)
    if not path.exists():
        check_clusters(path.parent, path.stem)  # raises an error with the names of the others
    return scaled(path, group, count, dry_run=dry_run)


def scaled(path: Path, group: str, count: int, *, dry_run: bool = False) -> Result:
    """Set the count in this file."""
    text = _read(path)
    if unreadable := read_yaml(text.encode()).problems:
        raise ConfigError({str(path): unreadable})
    edit = with_count(text, group, count)
    checked = check_source(edit.text.encode(), path.stem, path.parent, str(path))
    if checked.errors:
        raise ConfigError({str(path): checked.errors})
    diff = "\n".join(difflib.unified_diff(text.splitlines(), edit.text.splitlines(), str(path), str(path), n=2, lineterm=""))
    changed = edit.text != text
    if changed and not dry_run:
        _write(path, edit.text)
    data = {
        "file": str(path),
        "group": group,
        "before": edit.before,
        "after": count,
        "diff": diff,
        "written": changed and not dry_run,
    }
    text_blocks = (Verbatim(diff), *_warning(edit.before, count), _next_step(path, dry_run=dry_run))
    return Result(data, text_blocks if changed else (f"{path}: group {group} already has instance_count {count}",))


def _warning(before: object, count: int) -> tuple[str, ...]:
    """Return what a smaller count does to jobs."""
    if not isinstance(before, int) or count >= before:
        return ()
    return ("HyperPod chooses the nodes to delete, and their jobs end; `./hpod delete --scale` deletes nodes that you name",)


def _next_step(path: Path, *, dry_run: bool) -> str:
    first = f"{path} is unchanged; run the command without --dry-run, then:" if dry_run else f"wrote {path}; to apply it:"
    commands = (cdk_command(verb, path.stem, path.parent) for verb in ("diff", "deploy"))
    return "\n".join((first, *(f"  {command}" for command in commands)))


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"cannot read {path}: {error}; check its permissions and that it is UTF-8") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_bytes(text.encode())
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror or error}; check its permissions") from error
