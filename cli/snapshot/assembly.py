"""Synthesize cluster files in a child process, and read the cloud assembly."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cli.cluster_folder import CHECKOUT
from cli.errors import CommandError

DEFAULT_SCRIPTS = CHECKOUT / "lifecycle_assets"
SETTINGS = "node_settings.json"
"""Every bundle of scripts has this file (constructs/hyperpod/lifecycle/node_settings.py)."""


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
