"""What a command of `./hpod` is."""

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

CLUSTERS = Path("clusters")

Said = str | Iterable[str]


@dataclass(frozen=True)
class Command:
    """One command; its module is imported when it is needed, as boto3 alone takes as long as all that `validate` does.

    The module may have a function `options`, which adds what the command takes beside the cluster and the folder of the
    files; the command is called with each by its name.
    """

    where: str
    what: str
    # Whether it looks at one cluster's deployment and takes that; the others take the folder as `clusters`, and their options.
    deployed: bool = True

    def function(self) -> Callable[..., Said]:
        """What runs, and gives the text to print."""
        module, _, name = self.where.partition(":")
        found: Callable[..., Said] = getattr(import_module(module), name)
        return found

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add what the command takes beside the cluster and the folder."""
        options = getattr(import_module(self.where.partition(":")[0]), "options", None)
        if options is not None:
            options(parser)
