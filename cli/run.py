"""Runs a command: prints its text, or its error and the exit code that goes with it."""

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from cli.cluster_folder import cluster_folder
from cli.errors import OpsError
from config.errors import ConfigError

Text = str | Iterable[str]


def run(command: Callable[..., Text], *, clusters: Path, **arguments: object) -> None:
    """Run a command on files in the folder ``clusters``."""
    _print(lambda: command(clusters=cluster_folder(clusters), **arguments))


def run_on_deployment(command: Callable[..., Text], cluster: str, clusters: Path, **arguments: object) -> None:
    """Run a command on what was deployed of a cluster file."""
    from cli.on_deployment import on_deployment

    _print(lambda: on_deployment(command, cluster=cluster, clusters=cluster_folder(clusters), **arguments))


def _print(command: Callable[[], Text]) -> None:
    try:
        text = command()
        for piece in [text] if isinstance(text, str) else text:
            print(piece, flush=True)
    except (ConfigError, OpsError) as error:
        print(error, file=sys.stderr)
        raise typer.Exit(1) from None
    except BrokenPipeError:  # the reader has enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(141) from None
