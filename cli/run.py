"""Runs a command and prints its result, or its error with the exit code that goes with it."""

import os
import sys
from collections.abc import Callable

import typer

from cli.errors import CommandError
from cli.render import render
from cli.result import Result, failed
from config.errors import ConfigError


def run(command: str, call: Callable[[], Result], output: str) -> None:
    """Call the command's function, and print its result."""
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
