"""`./hpod snapshot`: write readable templates and node files beside the cluster files."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from cli.cluster_folder import CHECKOUT, is_path
from cli.errors import CommandError
from cli.result import Result, error_problem
from cli.snapshot.readable import readable

SUFFIX = ".snapshot"
DEFAULT_SCRIPTS = CHECKOUT / "lifecycle_assets"
SETTINGS = "node_settings.json"
"""Every bundle of scripts has this file (constructs/hyperpod/lifecycle/node_settings.py)."""


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


def synthesize(clusters: Path, outdir: Path, cluster: str = "") -> None:
    """Write the cloud assembly of one or all cluster files in the folder, without cdk-nag and other validation of templates."""
    context = {"clusters": str(clusters.absolute()), "nag": "false", **({"cluster": cluster} if cluster else {})}
    variables = {"CDK_OUTDIR": str(outdir), "CDK_CONTEXT_JSON": json.dumps(context), "CDK_VALIDATION": "false"}
    environment = {**os.environ, **variables}
    node = Path(sys.executable).with_name("node")
    if node.exists():
        environment.setdefault("JSII_NODE", str(node))
    done = subprocess.run([sys.executable, "app.py"], cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CommandError(done.stderr.strip())


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


def templates(outdir: Path) -> Iterator[tuple[str, str, str]]:
    """Yield cluster, stack and template of every stack in the cloud assembly."""
    for cluster, stack, folder, properties in _stacks(outdir):
        yield cluster, stack, (folder / properties["templateFile"]).read_text()


def node_files(outdir: Path) -> Iterator[tuple[str, str, bytes]]:
    """Yield cluster, path and content of each file for the nodes that is not one of this project's scripts."""
    for cluster, stack, folder, properties in _stacks(outdir):
        if stack != "Cluster":
            continue
        assets = properties["templateFile"].replace(".template.json", ".assets.json")
        manifest = json.loads((folder / assets).read_text())
        for asset in manifest["files"].values():
            bundle = folder / asset["source"]["path"]
            if (bundle / SETTINGS).exists():
                yield from ((cluster, name, content) for name, content in _own(bundle))


def _own(bundle: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(bundle.rglob("*")):
        name = path.relative_to(bundle)
        if path.is_file() and not (DEFAULT_SCRIPTS / name).is_file():
            yield name.as_posix(), path.read_bytes()


def _stacks(outdir: Path) -> Iterator[tuple[str, str, Path, dict[str, Any]]]:
    for manifest in sorted(outdir.glob("assembly-*/manifest.json")):
        for artifact in json.loads(manifest.read_text())["artifacts"].values():
            if artifact["type"] == "aws:cloudformation:stack":
                cluster, _, stack = artifact["properties"]["stackName"].rpartition("-")
                yield cluster, stack, manifest.parent, artifact["properties"]
