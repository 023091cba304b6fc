"""The commands `fault` (inject a fault, list pending ones, or clear them) and `capacity` (limit instances of a type)."""

import argparse
import json
import sys
import urllib.error
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from local_aws import process
from local_aws.faults.fault import Fault

_DEFAULTS = {field.name: field.default for field in fields(Fault)}


def add(command: Callable[[str, Callable[[argparse.Namespace], int], str], argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    ordering = command("fault", _fault, "inject a fault, or list pending faults")
    ordering.add_argument("operation", nargs="?", metavar="OPERATION", help="operation to fail, e.g. sagemaker:CreateCluster")
    ordering.add_argument("fields", nargs="*", metavar="FIELD=VALUE", help=f"fields: {', '.join(list(_DEFAULTS)[1:])}")
    ordering.add_argument("--clear", action="store_true", help="remove all pending faults")
    limiting = command("capacity", _capacity, "limit the instances of a type, or list limits")
    limiting.add_argument("limits", nargs="*", metavar="TYPE=COUNT", help="instances of a type, running ones included")
    limiting.add_argument("--clear", action="store_true", help="remove all limits")


def _fault(options: argparse.Namespace) -> int:
    try:
        if options.clear:
            process.ask("faults", method="DELETE")
        order = order_of(options.operation, options.fields) if options.operation else None
        ordered = process.ask("faults", method="POST", body=order) if order else process.ask("faults")
    except urllib.error.HTTPError as error:
        raise process.ProcessError(json.load(error)["message"]) from None
    sys.stdout.write("".join(f"{line}\n" for line in map(shown, ordered)) or "no pending faults\n")
    return 0


def _capacity(options: argparse.Namespace) -> int:
    try:
        if options.clear:
            process.ask("capacity", method="DELETE")
        wanted = limits_of(options.limits)
        limits = process.ask("capacity", method="POST", body=wanted) if wanted else process.ask("capacity")
    except urllib.error.HTTPError as error:
        raise process.ProcessError(json.load(error)["message"]) from None
    sys.stdout.write("".join(f"{name}={count}\n" for name, count in limits.items()) or "no limits\n")
    return 0


def limits_of(words: Sequence[str]) -> dict[str, int]:
    """Return the capacity that a command line describes, by instance type."""
    limits = {}
    for word in words:
        name, _, count = word.partition("=")
        if not name or not count.isdecimal():
            raise process.ProcessError(f"a limit must be TYPE=COUNT with a whole number, got {word!r}")
        limits[name] = int(count)
    return limits


def order_of(operation: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the fault that a command line describes, as JSON fields."""
    order: dict[str, Any] = {"operation": operation}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or name not in _DEFAULTS or name == "operation":
            known = ", ".join(list(_DEFAULTS)[1:])
            raise process.ProcessError(f"a fault field must be FIELD=VALUE with one of {known}, got {word!r}")
        order[name] = _typed(name, value)
    return order


def _typed(name: str, value: str) -> object:
    default = _DEFAULTS[name]
    if isinstance(default, str):
        return value
    try:
        return float(value) if name == "delay_s" else int(value)
    except ValueError:
        raise process.ProcessError(f"{name} must be a number, got {value!r}") from None


def shown(fault: dict[str, Any]) -> str:
    """Return a fault in the command line's form, without default fields."""
    given = [f"{name}={value}" for name, value in fault.items() if name != "operation" and value != _DEFAULTS[name]]
    return " ".join([fault["operation"], *given])
