"""`./hpod snapshot`: write readable templates and node files beside the cluster files."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping, Set
from pathlib import Path

from cli.cluster_folder import is_path
from cli.errors import CommandError
from cli.result import Result, error_problem
from cli.snapshot.assembly import node_files, synthesize, templates
from cli.snapshot.readable import readable

SUFFIX = ".snapshot"


def snapshot(*, clusters: Path, cluster: str | None = None, check: bool = False) -> Result:
    """Write a folder ``NAME.snapshot`` beside one or each cluster file; with ``check``, only report files that differ."""
    if cluster and is_path(cluster):
        clusters, cluster = Path(cluster).parent, Path(cluster).stem
    with tempfile.TemporaryDirectory() as folder:
        outdir = Path(folder)
        synthesize(clusters, outdir, cluster or "")
        expected = _expected(clusters, outdir)
    present = {path for folder in clusters.glob(f"{cluster or '*'}{SUFFIX}") for path in folder.rglob("*") if path.is_file()}
    changed = [str(file) for file in update(expected, present, write=not check)]
    if not check:
        _remove_empty(clusters)
    text = "\n".join(changed) or f"snapshots of {clusters} are up to date"
    data = {"folder": str(clusters), "changed": changed}
    if not (check and changed):
        return Result(data, (text,))
    stale = CommandError(f"{len(changed)} stale files", "run `./hpod snapshot` and commit the result")
    return Result(data, (text,), [error_problem(stale)], str(stale))


def _expected(clusters: Path, outdir: Path) -> dict[Path, bytes]:
    files = {
        clusters / f"{cluster}{SUFFIX}" / f"{stack}.template.yaml": readable(template).encode()
        for cluster, stack, template in templates(outdir)
    }
    for cluster, name, content in node_files(outdir):
        files[clusters / f"{cluster}{SUFFIX}" / "nodes" / name] = _as_text(name, content)
    return files


def _as_text(name: str, content: bytes) -> bytes:
    """Return JSON with a line for each value, other text unchanged, and the hash of a binary file."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return f"binary file, {len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}\n".encode()
    if name.endswith(".json"):
        return (json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n").encode()
    return content


def _remove_empty(clusters: Path) -> None:
    """Remove the snapshots of cluster files that are gone."""
    for folder in clusters.glob(f"*{SUFFIX}"):
        if not any(path.is_file() for path in folder.rglob("*")):
            shutil.rmtree(folder)


def update(expected: Mapping[Path, bytes], present: Set[Path], *, write: bool = True) -> list[Path]:
    """Return the files that differ or are not expected; with ``write``, write the first and delete the others."""
    gone = present - expected.keys()
    stale = {file for file, content in expected.items() if not file.exists() or file.read_bytes() != content}
    if write:
        for file in gone:
            file.unlink()
        for file in stale:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(expected[file])
    return sorted(gone | stale)
