"""The operator's commands: `python -m ops COMMAND CLUSTER`."""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from config.interpreter import demand

if __name__ == "__main__":
    demand("ops", "boto3", "pydantic", "yaml")  # before any of them is imported

from botocore.exceptions import BotoCoreError, ClientError

from config.errors import ConfigError
from config.load import load_clusters
from ops.adopt import adopt
from ops.adopt import options as adopt_options
from ops.deployment import CLUSTERS, Deployment
from ops.errors import OpsError
from ops.logs import logs
from ops.logs import options as logs_options
from ops.nodes import nodes
from ops.outputs import outputs
from ops.remedies import explained
from ops.retained import retained
from ops.rollback import continue_rollback
from ops.rollback import options as rollback_options
from ops.status import status

COMMANDS: dict[str, tuple[Callable[..., str | Iterable[str]], str]] = {
    "status": (status, "the stacks, the groups and the nodes at a glance"),
    "nodes": (nodes, "every node, and how to get a shell on it"),
    "logs": (logs, "the lifecycle logs of the nodes that there are and were; with `NODE`, what that one wrote"),
    "outputs": (outputs, "what the stacks put out: addresses, names, ids"),
    "retained": (retained, "what a destroy left, as the sections that let the next deployment use it"),
    "adopt": (adopt, "what a deployment would do with the cluster that has this `cluster_name` already"),
    "continue-rollback": (continue_rollback, "goes on with a rollback that CloudFormation has given up"),
}
OPTIONS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "adopt": adopt_options,
    "logs": logs_options,
    "continue-rollback": rollback_options,
}
"""What a command takes beside the cluster; it is called with each by its name."""


def parser() -> argparse.ArgumentParser:
    """The command line: one subcommand for each entry of COMMANDS."""
    top = argparse.ArgumentParser(prog="python -m ops", description="Look at the clusters that cdk deploys.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (_, what) in COMMANDS.items():
        command = commands.add_parser(name, help=what, description=what)
        command.add_argument("cluster", metavar="CLUSTER", help="name of a cluster file, without .yaml")
        command.add_argument(
            "--clusters",
            type=Path,
            default=CLUSTERS,
            metavar="FOLDER",
            help="where the cluster files are (clusters); to cdk, that is `-c clusters=FOLDER`",
        )
        if name in OPTIONS:
            OPTIONS[name](command)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status is 1 when it could not do its work."""
    given = parser().parse_args(arguments)
    try:
        (config,) = load_clusters(given.clusters, only=given.cluster)
        own = {name: value for name, value in vars(given).items() if name not in ("command", "cluster", "clusters")}
        said = COMMANDS[given.command][0](Deployment(config, folder=given.clusters), **own)
        for text in [said] if isinstance(said, str) else said:
            print(text, flush=True)
    except (ConfigError, OpsError) as error:
        print(error, file=sys.stderr)
        return 1
    except (ClientError, BotoCoreError, OSError) as error:
        print(explained(given.command, error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
