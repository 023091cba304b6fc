"""Measures how lifecycle scripts bring clusters up on simulated nodes: `python -m tests.bench.nodes`."""

import argparse
import os
import sys
import tempfile
from pathlib import Path

from local_aws.builds.errors import HostError
from tests.bench.nodes.bring_up import account
from tests.bench.nodes.figures import ALL_IDLE, Figures, growth, medians, table
from tests.nodes.bundle import OURS

ROUNDS, WORKERS = 3, "4"


def main() -> int:
    """Measure and print; 1 where a limit of growth does not hold, 2 where nothing could be measured."""
    arguments = _arguments()
    try:
        by_size = _measured(arguments.lifecycle, arguments.workers, arguments.rounds)
    except HostError as error:
        print(f"bench-nodes: {error}", file=sys.stderr)
        return 2
    print(f"\n{table(by_size)}\n(x...) to the smallest size")
    return 0 if growth(by_size, arguments.tolerance) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.nodes", description=__doc__)
    ours = Path(os.environ.get("LIFECYCLE") or OURS)
    parser.add_argument("--lifecycle", type=Path, default=ours, help="the folder of scripts; else $LIFECYCLE, else ours")
    parser.add_argument("--workers", type=_sizes, default=_sizes(WORKERS), help=f"sizes, as in 4,16,64 (default: {WORKERS})")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="interleaved runs of each (default: %(default)s)")
    parser.add_argument("--tolerance", type=float, default=1.0, help="fail only beyond this many times a limit (%(default)s)")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",")]


def _measured(scripts: Path, sizes: list[int], rounds: int) -> dict[int, Figures]:
    runs: dict[int, list[Figures]] = {size: [] for size in sizes}
    with tempfile.TemporaryDirectory(prefix="bench-nodes-") as folder, account(Path(folder), scripts) as aws:
        for number in range(1, rounds + 1):
            for size in sizes:
                runs[size].append(aws.bring_up(size))
                print(
                    f"round {number} of {rounds}: {size} workers: {runs[size][-1][ALL_IDLE]:.1f} s until all are idle", flush=True
                )
    return {size: medians(rounds) for size, rounds in runs.items()}


if __name__ == "__main__":
    sys.exit(main())
