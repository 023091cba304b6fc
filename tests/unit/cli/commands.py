"""The commands of `hpod`, as the command line knows them."""

from typing import Any

from typer.main import get_command

from cli.app import app

_commands: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]  # a group has them

ARGUMENTS = {
    name: [each.metavar for each in command.params if each.param_type_name == "argument"] for name, command in _commands.items()
}
OPTIONS = {
    name: {option for each in command.params if each.param_type_name == "option" for option in each.opts}
    for name, command in _commands.items()
}
HELP = {name: command.help for name, command in _commands.items()}
