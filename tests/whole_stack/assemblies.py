"""Cloud assemblies of one small cluster, ours and the stock one, each in two sizes: synthesized once, deployed often."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import yaml

from config.model import ClusterConfig
from constructs.hyperpod.cluster.node_role import NodeRole
from constructs.hyperpod.lifecycle.lifecycle_scripts import LifecycleScripts
from stacks.clusters_app import FEATURE_FLAGS, TEMPLATES, ClustersApp
from stacks.network_stack import NetworkStack
from stacks.storage_stack import StorageStack
from tests.local.other_network import OtherNetwork
from tests.whole_stack.stock.stock_provider_cluster import StockProviderCluster
from validation.load import load_cluster

SMALL, LARGE = 1, 2
"""Workers of the two sizes."""


def cluster_file(folder: Path, name: str, place: OtherNetwork, workers: int) -> Path:
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
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def synthesize(folder: Path, place: OtherNetwork) -> dict[tuple[str, int], Path]:
    """Where the assemblies of both kinds in both sizes are."""
    found: dict[tuple[str, int], Path] = {}
    for workers in (SMALL, LARGE):
        ours, stock = folder / f"ours-{workers}", folder / f"stock-{workers}"
        files = cluster_file(folder / f"files-{workers}", "ours", place, workers).parent
        ClustersApp(context={"clusters": str(files), "nag": "false"}, outdir=str(ours)).synth()
        _stock_app(load_cluster(cluster_file(folder / f"stock-file-{workers}", "stock", place, workers)), stock).synth()
        found |= {("ours", workers): ours, ("stock", workers): stock}
    return found


def _stock_app(config: ClusterConfig, outdir: Path) -> cdk.App:
    """The stacks that ours has, with the other cluster in them."""
    context = json.loads(FEATURE_FLAGS.read_text())
    app = cdk.App(context=context, post_cli_context=TEMPLATES, analytics_reporting=False, outdir=str(outdir))
    stage = cdk.Stage(app, config.name)
    network = NetworkStack(stage, "Network", config=config).network
    storage = StorageStack(stage, "Storage", config=config, network=network).storage
    stack = cdk.Stack(stage, "Cluster")
    scripts = LifecycleScripts(stack, "Lifecycle", config=config, storage=storage)
    role = NodeRole(stack, "NodeRole", config=config, network=network, scripts=scripts, data_bucket_name=None)
    StockProviderCluster(stack, "Cluster", config=config, network=network, scripts=scripts, role=role)
    return app
