"""Runs a command and prints its result, or its error with the exit code that goes with it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import typer

from cli.access import Access
from cli.cluster_folder import cluster_folder
from cli.errors import CommandError
from cli.render import render
from cli.result import Result, failed
from config.errors import ConfigError


def run(command: str, function: Callable[..., Result], output: str, *, clusters: Path, **arguments: object) -> None:
    """Run a command on files in the folder ``clusters``."""
    _render(command, lambda: function(clusters=cluster_folder(clusters), **arguments), output)


def run_on_deployment(
    command: str,
    function: Callable[..., Result],
    output: str,
    *,
    cluster: str,
    clusters: Path,
    access: Access,
    **arguments: object,
) -> None:
    """Run a command on the deployment of a cluster file."""
    from cli.on_deployment import on_deployment

    folder = cluster_folder(clusters)
    _render(
        command, lambda: on_deployment(command, function, cluster=cluster, clusters=folder, access=access, **arguments), output
    )


def _render(command: str, call: Callable[[], Result], output: str) -> None:
    try:
        try:
            result = call()
        except (ConfigError, CommandError) as error:
            result = failed(error)
        render(command, result, output)
    except BrokenPipeError:  # the reader has stopped, like `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(141) from None
    if result.failure:
        raise typer.Exit(result.exit_code)
