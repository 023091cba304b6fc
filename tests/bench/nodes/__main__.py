"""Measures how bundles of lifecycle scripts bring clusters up on simulated nodes: `python -m tests.bench.nodes`."""

import argparse
import json
import os
import shlex
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from local_aws.builds.errors import HostError
from tests.bench.nodes.bring_up import account
from tests.bench.nodes.bundles import OURS, contenders
from tests.bench.nodes.figures import medians, table
from tests.bench.nodes.growth import growth
from tests.bench.nodes.machine import machine
from tests.bench.nodes.plot import svg
from tests.bench.nodes.run import Run
from tests.nodes.bundle import make_file_system

ROUNDS, WORKERS = 3, "4"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.nodes", description=__doc__)
    folders = [Path(folder) for folder in shlex.split(os.environ.get("LIFECYCLE", ""))] or [OURS]
    parser.add_argument(
        "--lifecycle", nargs="+", type=Path, default=folders, help="folders of scripts; else $LIFECYCLE, else ours"
    )
    parser.add_argument("--workers", type=_sizes, default=_sizes(WORKERS), help=f"sizes, as in 4,16,64 (default: {WORKERS})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="interleaved runs of each (default: %(default)s)")
    parser.add_argument("--tolerance", type=float, default=1.0, help="fail only beyond this many times a limit (%(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write all that was measured")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="where to write a plot over the number of workers")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    sizes = [int(size) for size in text.split(",")]
    if min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"a cluster needs a worker, got {text}")
    return sizes


def main() -> int:
    """Measure and print; 1 where a limit of growth does not hold, 2 where nothing could be measured."""
    arguments = _arguments()
    try:
        runs = _runs(arguments.lifecycle, arguments.workers, arguments.rounds)
    except (HostError, ValueError) as error:
        print(f"bench-nodes: {error}", file=sys.stderr)
        return 2
    found, where = medians(runs), machine()
    print(f"\n{table(found)}\n(x...) to the smallest size, [x...] to the first bundle at the same size\n{where}")
    for reason in sorted({run.not_accounted for run in runs} - {""}):
        print(f"programs are not measured: {reason}; the kernel needs CONFIG_BSD_PROCESS_ACCT_V3")
    if arguments.json:
        measured = {"machine": where, "runs": [asdict(run) for run in runs]}
        arguments.json.write_text(json.dumps(measured, indent=1) + "\n")
    if arguments.plot:
        arguments.plot.write_text(svg(found, where))
    return 0 if growth(found, arguments.tolerance) else 1


def _runs(folders: list[Path], sizes: list[int], rounds: int) -> list[Run]:
    runs = []
    with tempfile.TemporaryDirectory(prefix="bench-nodes-") as folder, account(Path(folder)) as aws:
        bundles = contenders(folders, make_file_system(aws.world))
        for number in range(1, rounds + 1):
            for size in sizes:
                for bundle in bundles:
                    runs.append(aws.bring_up(bundle, size))
                    taken = f"all idle after {runs[-1].all_idle_s:.1f} s"
                    print(f"round {number} of {rounds}: {bundle.name}, {size} workers: {taken}", flush=True)
    return runs


if __name__ == "__main__":
    sys.exit(main())
