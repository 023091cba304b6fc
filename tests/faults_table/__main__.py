"""Runs the tests of docs/internals/faults.md's rows 1 to 59 and prints what happened in each: `python -m tests.faults_table`.

Those that drive the `cdk` command line take minutes each, and repeat against the whole stack what others show; they are left out.
"""

import contextlib
import io
import sys
import textwrap
import time
from collections.abc import Iterable

import pytest

from tests.faults_table.rows import LAST_WITHOUT_NODES, ROOT, rows
from tests.faults_table.verdicts import Collected, Line, is_all_well, lines_of, summary

PROCESSES = 2
FAULT_WIDTH, HAPPENED_WIDTH, VERDICT_WIDTH = 40, 84, 15
LONGEST = 420
"""Characters that are shown of what happened."""

WITHOUT_MODE = {
    30: "the response is the same text, and sending it makes no request",
    31: "one package and one service model, which has the fields of both",
    54: "addresses and security group rules come from the network",
    56: "the same functions serve both",
}
"""Rows that do not depend on the kind of request, each with the reason."""


def main() -> int:
    """Run, print, and tell whether every row is as it must be."""
    start = time.monotonic()
    collected, status, printed = _run()
    table = lines_of(rows()[:LAST_WITHOUT_NODES], collected.tests, WITHOUT_MODE)
    is_good = status == pytest.ExitCode.OK and is_all_well(table)
    if not is_good:
        print(printed)
    print("\n".join(text for line in table for text in _printed(line)))
    print(f"{len(table)} faults in {time.monotonic() - start:.0f} s; docs/internals/faults.md says what must happen")
    print(summary(table))
    return 0 if is_good else 1


def _run() -> tuple[Collected, int, str]:
    """Run the tests; what they said, pytest's status, and what it printed."""
    collected, printed = Collected(), io.StringIO()
    arguments = [
        "-m", "fault and not aws and not cdk", "--ignore", str(ROOT / "tests" / "nodes"), "-q",
        "-n", str(PROCESSES), "--no-loadscope-reorder",
    ]  # fmt: skip
    print("running the tests of docs/internals/faults.md's rows 1 to 59", file=sys.stderr)
    with contextlib.redirect_stdout(printed):
        status = pytest.main([*arguments, str(ROOT / "tests")], plugins=[collected])
    return collected, int(status), printed.getvalue()


def _printed(line: Line) -> Iterable[str]:
    happened = textwrap.wrap(line.happened[:LONGEST], HAPPENED_WIDTH)
    fault = textwrap.wrap(line.row.fault, FAULT_WIDTH)
    for index in range(max(len(fault), len(happened))):
        is_first = index == 0
        yield (
            f"{line.row.number if is_first else '':>3}  "
            f"{fault[index] if index < len(fault) else '':<{FAULT_WIDTH}}  "
            f"{happened[index] if index < len(happened) else '':<{HAPPENED_WIDTH}}  "
            + (f"{line.verdict:<{VERDICT_WIDTH}}{line.seconds:6.1f} s  {line.modes}" if is_first else "")
        ).rstrip()


if __name__ == "__main__":
    sys.exit(main())
