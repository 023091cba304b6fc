"""Build the programs of a Kubernetes control plane."""

import argparse
import sys

from local_aws.builds.programs import say
from local_aws.kubernetes import support
from local_aws.kubernetes.errors import KubernetesError
from local_aws.kubernetes.programs import build, store

_FIRST = "Kubernetes' programs are built once: 3 to 15 minutes, 150 MB of downloads, 3 GB of disk meanwhile and 0.2 GB afterwards"


def main(argv: list[str]) -> int:
    """Run one command and return its exit status."""
    arguments = _parser().parse_args(argv)
    if arguments.command == "check":
        reasons = support.missing()
        say("\n".join(reasons) or "this machine can run a control plane")
        return 1 if reasons else 0
    programs = store.SETS[arguments.programs]
    if store.find(programs) is None:
        say(_FIRST)
    try:
        say(f"the programs are in {build.build(programs, say)}")
    except KubernetesError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("stopped; the next set-up starts from the beginning\n")
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m local_aws.kubernetes", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    building = commands.add_parser("setup", help="build the programs (once; 3 to 15 minutes)")
    building.add_argument("--programs", choices=sorted(store.SETS), default=store.CONTROL_PLANE.name, help="default: %(default)s")
    commands.add_parser("check", help="list what is missing to run a control plane; exit with status 1 if anything is")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
