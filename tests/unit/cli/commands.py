"""The commands of `hpod`, as the command line knows them."""

import re
from typing import Any

from typer.main import get_command

from cli.app import app
from cli.result import Json, Result

COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]  # a group has them

ARGUMENTS = {
    name: [each.metavar for each in command.params if each.param_type_name == "argument"] for name, command in COMMANDS.items()
}
OPTIONS = {
    name: {option for each in command.params if each.param_type_name == "option" for option in each.opts}
    for name, command in COMMANDS.items()
}
HELP = {name: command.help for name, command in COMMANDS.items()}
EXAMPLES = {name: re.findall(r"^  \./hpod (.+)$", command.epilog or "", flags=re.MULTILINE) for name, command in COMMANDS.items()}
"""The examples that each command's help shows, without `./hpod`."""


def data_of(result: Result) -> Json:
    """The data of a result, which has some."""
    assert result.data is not None
    return dict(result.data)
