"""The command about faults: order one, list what is ordered, forget it all."""

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
    ordering = command("fault", _fault, "order a fault, or list those that are ordered and have not happened")
    ordering.add_argument("operation", nargs="?", metavar="OPERATION", help="e.g. sagemaker:CreateCluster")
    ordering.add_argument("fields", nargs="*", metavar="FIELD=VALUE", help=f"{', '.join(list(_DEFAULTS)[1:])}")
    ordering.add_argument("--clear", action="store_true", help="forget all that are ordered")


def _fault(options: argparse.Namespace) -> int:
    try:
        if options.clear:
            process.ask("faults", method="DELETE")
        order = order_of(options.operation, options.fields) if options.operation else None
        ordered = process.ask("faults", method="POST", body=order) if order else process.ask("faults")
    except urllib.error.HTTPError as error:
        raise process.ProcessError(json.load(error)["message"]) from None
    sys.stdout.write("".join(f"{line}\n" for line in map(shown, ordered)) or "no fault is ordered\n")
    return 0


def order_of(operation: str, words: Sequence[str]) -> dict[str, Any]:
    """The order that a command line stands for."""
    order: dict[str, Any] = {"operation": operation}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign or name not in _DEFAULTS or name == "operation":
            known = ", ".join(list(_DEFAULTS)[1:])
            raise process.ProcessError(f"a fault is told by FIELD=VALUE with a field of {known}, got {word!r}")
        order[name] = _typed(name, value)
    return order


def _typed(name: str, value: str) -> object:
    default = _DEFAULTS[name]
    if isinstance(default, str):
        return value
    try:
        return float(value) if name == "delay_s" else int(value)
    except ValueError:
        raise process.ProcessError(f"{name} is a number, got {value!r}") from None


def shown(fault: dict[str, Any]) -> str:
    """One fault as the command line orders it, without what is as always."""
    told = [f"{name}={value}" for name, value in fault.items() if name != "operation" and value != _DEFAULTS[name]]
    return " ".join([fault["operation"], *told])
