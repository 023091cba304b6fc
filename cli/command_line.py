"""What `./hpod` adds to typer: commands in sections, parameters that commands share, and help without Python's types."""

import inspect
from collections.abc import Callable
from functools import wraps
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
LIKELY = {"apply": "rerun-scripts", "check": "health-check"}
"""Words that are likely to be typed for a command, which typer does not find similar."""
LAST = ("yes", "clusters", "profile", "region", "output")
"""Options of many commands: they are last in the help."""


class Commands(TyperGroup):
    """All commands, which the help lists by their modules."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command; suggest one for an unknown word."""
        if args[0] in LIKELY:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {LIKELY[args[0]]!r}?")
        return super().resolve_command(ctx, args)

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


class Shared:
    """Parameters that several commands share: each field of a subclass, which is a dataclass, is one."""


class CommandModule(typer.Typer):
    """The commands of one module."""

    def command(self, name: str | None = None, **arguments: Any) -> Callable[[Any], Any]:
        """Add a command whose help shows no types, and whose `Shared` parameters are their fields on the command line."""
        add = super().command(name, cls=_Command, **arguments)
        return lambda function: add(_with_fields(function))


def _with_fields(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function with the fields of its `Shared` parameters in place of these."""
    parameters = inspect.signature(function).parameters
    shared = {name: parameter.annotation for name, parameter in parameters.items() if _is_shared(parameter)}
    fields = {name: inspect.signature(annotation).parameters for name, annotation in shared.items()}

    @wraps(function)
    def call(**values: Any) -> None:
        for name, annotation in shared.items():
            values[name] = annotation(**{field: values.pop(field) for field in fields[name]})
        function(**values)

    flat = [field for name, parameter in parameters.items() for field in fields.get(name, {name: parameter}).values()]
    by_keyword = [field.replace(kind=inspect.Parameter.KEYWORD_ONLY) for field in flat]
    signature = inspect.Signature(sorted(by_keyword, key=lambda field: LAST.index(field.name) if field.name in LAST else -1))
    call.__signature__ = signature  # type: ignore[attr-defined]  # typer reads it
    return call


def _is_shared(parameter: inspect.Parameter) -> bool:
    return isinstance(parameter.annotation, type) and issubclass(parameter.annotation, Shared)
