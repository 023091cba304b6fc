"""`python -m local_aws.nodes`: sets this machine up for simulated nodes, and clears what a killed run left of them."""

import argparse
import sys
from pathlib import Path

from local_aws.nodes import setup, support
from local_aws.nodes.specs import NodesError
from local_aws.nodes.sweep import sweep


def main(argv: list[str]) -> int:
    """Read the command line and do what it says."""
    arguments = _parser().parse_args(argv)
    try:
        match arguments.command:
            case "setup":
                setup.setup(_say, training=arguments.training)
                _say(f"nodes can run on this machine, from {support.image()}")
            case "check":
                reasons = support.missing()
                _say("\n".join(reasons) or f"nodes can run on this machine, from {support.image()}")
                return 1 if reasons else 0
            case "sweep":
                _say("\n".join(f"ended {folder}" for folder in sweep(arguments.folder)) or f"no nodes' hub in {arguments.folder}")
    except NodesError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local_aws.nodes", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    install = commands.add_parser("setup", help="install what nodes need, and build their image (once; one to three minutes)")
    install.add_argument("--training", action="store_true", help="with PyTorch on the nodes, for the training examples (1 GB)")
    commands.add_parser("check", help="say what is missing for nodes to run here; status 1 if anything is")
    cleaning = commands.add_parser("sweep", help="end all nodes whose hub is in a folder or below it, and clear what they left")
    cleaning.add_argument("folder", type=Path)
    return parser


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
