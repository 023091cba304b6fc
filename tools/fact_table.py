"""Print a table of facts with the date of today, or another one."""

import argparse
from collections.abc import Callable
from datetime import UTC, datetime


def print_table(
    description: str | None, table: Callable[[str], dict[str, object]], rendered: Callable[[dict[str, object]], str]
) -> None:
    """Print the table of the date in the arguments."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--date", default=datetime.now(UTC).date().isoformat())
    print(rendered(table(arguments.parse_args().date)))  # noqa: T201  its output is the file
