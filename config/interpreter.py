"""Check that the running Python has the required packages; loads on any Python version."""

import sys
from importlib.util import find_spec


def demand(program: str, *packages: str) -> None:
    """Exit with one line if a package that ``program`` requires is missing."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        sys.exit(f"{sys.executable} has no {', '.join(missing)}; run `make setup`, then `{program}`")
