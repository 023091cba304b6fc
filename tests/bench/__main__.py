"""Measures what must stay fast: `python -m tests.bench [start] [synth] [deploy]`, all by default."""

import argparse
import sys
from importlib import import_module

BENCHES = ("start", "synth", "deploy")
ROUNDS = 5


def main() -> int:
    """Run the benches that are named; 1 where a limit does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("bench", nargs="*", metavar="|".join(BENCHES), help="what to measure; without it, everything")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="interleaved runs of each (default: %(default)s)")
    parser.add_argument("--tolerance", type=float, default=1.0, help="fail only beyond this many times a limit (%(default)s)")
    arguments = parser.parse_args()
    if unknown := set(arguments.bench) - set(BENCHES):
        parser.error(f"no bench is called {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
    held = True
    for name in arguments.bench or BENCHES:
        print(f"{name}: {arguments.rounds} interleaved rounds", flush=True)
        # Imported when it is its turn: one bench needs the embedded AWS, the others must not pay for it.
        held &= import_module(f"tests.bench.{name}").bench(arguments.rounds, arguments.tolerance)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
