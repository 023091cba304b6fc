"""Runs the tests of docs/internals/faults.md's rows 1 to 59 and prints what happened in each: `python -m tests.faults_table`.

Those that drive the `cdk` command line take minutes each, and repeat against the whole stack what others show; they are left out
unless `--cdk` is given, as `make whole-stack` runs them.
"""

import argparse
import contextlib
import io
import sys
import textwrap
import time
from collections.abc import Iterable

import pytest

from tests.faults_table.rows import LAST_WITHOUT_NODES, ROOT, rows
from tests.faults_table.verdicts import LONGEST, Collected, Line, is_all_well, lines_of, summary

FAULT_WIDTH, HAPPENED_WIDTH, VERDICT_WIDTH = 40, 84, 15

NOT_EXERCISABLE: dict[int, str] = {}
"""Rows that nothing here can bring about, each with the reason; there may be three."""


WITHOUT_MODE = {
    30: "the response is the same text, and sending it makes no request",
    31: "one package and one service model, which has the fields of both",
    54: "addresses and security group rules come from the network",
    56: "the same functions serve both",
}
"""Rows that do not depend on the kind of request, each with the reason."""


def main() -> int:
    """Run, print, and tell whether every row is as it must be."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults_table", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--processes", type=int, default=2, help="how many tests run at once (2)")
    parser.add_argument("--cdk", action="store_true", help="with the tests that drive the cdk command line")
    options = parser.parse_args()
    start = time.monotonic()
    collected, status, printed = _run(options.processes, "fault and not aws" + ("" if options.cdk else " and not cdk"))
    table = lines_of(rows()[:LAST_WITHOUT_NODES], collected.tests, NOT_EXERCISABLE, WITHOUT_MODE)
    is_good = status == pytest.ExitCode.OK and is_all_well(table)
    if not is_good:
        print(printed)
    print("\n".join(text for line in table for text in _printed(line)))
    print(f"{len(table)} faults in {time.monotonic() - start:.0f} s; docs/internals/faults.md says what must happen")
    print(summary(table))
    return 0 if is_good else 1


def _run(processes: int, marked: str) -> tuple[Collected, int, str]:
    """Run the tests; what they said, pytest's status, and what it printed."""
    collected, printed = Collected(), io.StringIO()
    arguments = [
        "-m", marked, "--ignore", str(ROOT / "tests" / "nodes"), "-q",
        "-n", str(processes), "--no-loadscope-reorder",
    ]  # fmt: skip
    print("running the tests of docs/internals/faults.md's rows 1 to 59", file=sys.stderr)
    with contextlib.redirect_stdout(printed):
        status = pytest.main([*arguments, str(ROOT / "tests")], plugins=[collected])
    return collected, int(status), printed.getvalue()


def _printed(line: Line) -> Iterable[str]:
    happened = textwrap.wrap(_cut(line.happened), HAPPENED_WIDTH)
    fault = textwrap.wrap(line.row.fault, FAULT_WIDTH)
    for index in range(max(len(fault), len(happened))):
        is_first = index == 0
        yield (
            f"{line.row.number if is_first else '':>3}  "
            f"{fault[index] if index < len(fault) else '':<{FAULT_WIDTH}}  "
            f"{happened[index] if index < len(happened) else '':<{HAPPENED_WIDTH}}  "
            + (f"{line.verdict:<{VERDICT_WIDTH}}{line.seconds:6.1f} s  {line.modes}" if is_first else "")
        ).rstrip()


def _cut(text: str) -> str:
    """The text with its end: where it ends tells more than its middle."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} [...] {text[-half:]}"


if __name__ == "__main__":
    sys.exit(main())
