"""The help of `./hpod`: commands in sections, and arguments without Python's types."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

SECTIONS = {
    "cli.file_commands": "Cluster files",
    "cli.deployment_commands": "Deployments",
    "cli.reach_commands": "Access to nodes and Kubernetes",
    "cli.node_commands": "Nodes",
}
"""The title of each module's commands."""


class Commands(TyperGroup):
    """All commands, which the help lists by their modules."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for each module, all with the same columns."""
        del ctx
        widest = max(len(name) for name in self.commands)
        width = formatter.width - 6 - widest
        for module, title in SECTIONS.items():
            own = [(name, each) for name, each in self.commands.items() if each.callback and each.callback.__module__ == module]
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), each.get_short_help_str(width)) for name, each in own])


class _Command(TyperCommand):
    """A command whose arguments have a name and a text: typer would add `<list[str]>`."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options."""
        arguments, options = [], []
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record and each.param_type_name == "argument":
                arguments.append((each.metavar or each.name, record[1]))
            elif record:
                options.append(record)
        for title, records in (("Arguments", arguments), ("Options", options)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class CommandModule(typer.Typer):
    """The commands of one module."""

    def command(self, name: str | None = None, **arguments: Any) -> Callable[[Any], Any]:
        """Add a command whose help shows no types."""
        return super().command(name, cls=_Command, **arguments)
