"""Whether the Python that runs a command has what the command needs; it must load on any Python."""

import sys
from importlib.util import find_spec


def demand(program: str, *packages: str) -> None:
    """End the process with one line if this Python lacks one of the packages that ``program`` needs."""
    lacking = [package for package in packages if find_spec(package) is None]
    if lacking:
        sys.exit(f"{sys.executable} has no {', '.join(lacking)}; run `make setup`, then `{program}`")
