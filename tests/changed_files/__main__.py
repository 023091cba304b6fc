"""Check ten thousand changed cluster files, the same in every run; `--show NUMBER` prints one."""

import argparse
import sys
import time

from local_aws.server import EmbeddedAws
from local_aws.testing import clients_of
from tests.changed_files.running import LEAST_PASSED, ChangedFileError, Richness, changed_file, run
from tests.changed_files.sagemaker import SageMaker


def main(arguments: list[str]) -> int:
    """Run with progress on stderr; the exit status is 1 if a file reveals a bug, or too few are valid."""
    parser = argparse.ArgumentParser(prog="python -m tests.changed_files", description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, metavar="NUMBER", help="print the changed file of this number, and do nothing else")
    given = parser.parse_args(arguments)
    if given.show is not None:
        print(changed_file(given.seed, given.show), end="")
        return 0
    begin = time.monotonic()

    def progress(richness: Richness) -> None:
        if richness.files % 1000 == 0:
            print(f"{richness.files} of {given.files} files in {time.monotonic() - begin:.0f} s", file=sys.stderr)

    with EmbeddedAws() as aws:
        try:
            richness = run(SageMaker.of(clients_of(aws)), given.seed, given.files, progress)
        except ChangedFileError as error:
            print(error, file=sys.stderr)
            return 1
    print(*richness.lines(), sep="\n")
    return 0 if richness.share >= LEAST_PASSED else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
