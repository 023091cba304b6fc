"""Cloud assemblies of one small cluster in two sizes: synthesized once, deployed often."""

from pathlib import Path
from typing import Any

import yaml

from stacks.clusters_app import ClustersApp
from tests.local.other_network import OtherNetwork

SMALL, LARGE = 1, 2
"""Workers of the two sizes."""


def cluster_file(folder: Path, place: OtherNetwork, workers: int) -> Path:
    """A file for one controller and ``workers`` in an existing network, without a file system."""
    content: dict[str, Any] = {
        "network": place.section,
        "slurm": {"setup": "scripts"},
        "instance_groups": [
            {"name": "controller", "role": "controller", "instance_type": "ml.c5.xlarge", "instance_count": 1},
            {
                "name": "workers",
                "role": "compute",
                "partition": "dev",
                "instance_type": "ml.g5.2xlarge",
                "instance_count": workers,
            },
        ],
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ours.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def synthesize(folder: Path, place: OtherNetwork) -> dict[int, Path]:
    """Where the assembly of each size is."""
    for workers in (SMALL, LARGE):
        files = cluster_file(folder / f"files-{workers}", place, workers).parent
        ClustersApp(context={"clusters": str(files), "nag": "false"}, outdir=str(folder / str(workers))).synth()
    return {workers: folder / str(workers) for workers in (SMALL, LARGE)}
