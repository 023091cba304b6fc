"""Runs on every node as root, started by on_create.sh: run the steps of this node's role in order."""

import os
import sys
import time
import traceback
from pathlib import Path

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, unexpected
from hyperpod_node.node import Node
from hyperpod_node.node_settings import API, SCRIPTS, NodeSettings
from hyperpod_node.plan import run_steps
from hyperpod_node.provisioning_parameters import ProvisioningParameters
from hyperpod_node.resource_config import ResourceConfig
from hyperpod_node.system import SYSTEM, System

RESOURCE_CONFIG = Path(os.environ.get("SAGEMAKER_RESOURCE_CONFIG_PATH", "/opt/ml/config/resource_config.json"))
# HyperPod rejects provisioning_parameters.json where it configures Slurm from the request.
PARAMETERS = {
    SCRIPTS: Path(__file__).with_name("provisioning_parameters.json"),
    API: Path(__file__).with_name("slurm_groups.json"),
}
NODE_SETTINGS = Path(__file__).with_name("node_settings.json")


def main() -> int:
    """Run the steps of this node; HyperPod reads the exit status, operators read the last line."""
    started = time.monotonic()
    try:
        context = _context(SYSTEM)
        node = context.node
        print(f"{node.name} ({node.address}) of cluster {node.cluster_name}: role {node.role}, group {node.group}")
        run_steps(context, SYSTEM)
    except NodeError as error:
        print(f"lifecycle script failed: {error}", file=sys.stderr)
        return 1
    except Exception as error:  # noqa: BLE001 - the last line reports every error
        traceback.print_exc()
        print(f"lifecycle script failed: {unexpected(error)}", file=sys.stderr)
        return 1
    print(f"lifecycle script done in {time.monotonic() - started:.1f} s")
    return 0


def _context(system: System) -> Context:
    cluster, settings = ResourceConfig.load(RESOURCE_CONFIG), NodeSettings.load(NODE_SETTINGS)
    parameters = ProvisioningParameters.load(PARAMETERS[settings.slurm.setup])
    node = Node.find(cluster, parameters, addresses=system.run("hostname", "-I").split())
    return Context(node, cluster, parameters, settings)


if __name__ == "__main__":
    sys.exit(main())
