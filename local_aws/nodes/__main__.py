"""Set this machine up for simulated nodes, and clean up after a killed run."""

import argparse
import sys
from pathlib import Path

from local_aws.builds.errors import HostError
from local_aws.nodes import setup, support
from local_aws.nodes.sweep import sweep


def main(argv: list[str]) -> int:
    """Run one command and return its exit status."""
    arguments = _parser().parse_args(argv)
    try:
        match arguments.command:
            case "setup":
                setup.setup(_say, training=arguments.training, pods=arguments.kubernetes)
                _say(f"this machine can run nodes, from {support.image()}")
            case "check":
                reasons = support.missing()
                _say("\n".join(reasons) or f"this machine can run nodes, from {support.image()}")
                return 1 if reasons else 0
            case "sweep":
                _say("\n".join(f"stopped {folder}" for folder in sweep(arguments.folder)) or f"no nodes in {arguments.folder}")
    except HostError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local_aws.nodes", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    install = commands.add_parser("setup", help="install required programs and build the node image (once; one to three minutes)")
    install.add_argument("--training", action="store_true", help="add PyTorch to the nodes, for the training examples (1 GB)")
    install.add_argument("--kubernetes", action="store_true", help="build the kubelet and its layer, for nodes of EKS clusters")
    commands.add_parser("check", help="list what is missing to run nodes here; exit with status 1 if anything is")
    cleaning = commands.add_parser("sweep", help="stop all nodes in a folder or below it, and clean up after them")
    cleaning.add_argument("folder", type=Path)
    return parser


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
