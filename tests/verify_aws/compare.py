"""Compares what AWS did with what the simulation does: members, types and values, except those that vary by run."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_node.slurm.node_lines import OURS
from hyperpod_node.slurm.slurm_conf import SlurmConf
from tests.verify_aws.redaction import without_numbers

VARIES = frozenset(
    {
        "AvailabilityZone",
        "AvailabilityZoneId",
        "CurrentImageReleaseVersion",
        "Description",
        "FailureMessage",
        "Message",
        "NextToken",
    }
)
"""Members of which only the type is compared."""
FORMS = frozenset({"Events"})
"""Lists whose length varies: of each type of resource, the members of its items are compared."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:[+-]\d\d:\d\d|Z)?")
_NODES = re.compile(r"ip-<address>(?:,ip-<address>)*")
_ADDED = re.compile(rf"^(NodeName=\S+ .*?)(?: (?:{'|'.join(OURS)})=\S+)+$", re.MULTILINE)
"""A node line with fields at its end that this project's scripts add, seconds or minutes after the agent's."""


def differences(aws: Any, simulated: Any, path: str = "") -> Iterator[str]:
    """Yield where the simulation's answer differs from AWS's."""
    match aws, simulated:
        case dict(), dict():
            yield from _members(aws, simulated, path)
        case list(), list():
            yield from _items(aws, simulated, path)
        case _ if _type(aws) != _type(simulated):
            yield f"{path}: AWS has {_type(aws)} {aws!r}, the simulation has {_type(simulated)} {simulated!r}"
        case _ if aws != simulated and _name(path) not in VARIES:
            yield f"{path}: AWS has {aws!r}, the simulation has {simulated!r}"


def normalized(value: Any, region: str) -> Any:
    """Return a redacted JSON value without what varies in every value: numbers of placeholders, times, the region."""
    match value:
        case dict():
            return {normalized(key, region): normalized(item, region) for key, item in value.items()}
        case list():
            return [normalized(item, region) for item in value]
        case str():
            return _TIME.sub("<time>", without_numbers(value)).replace(region, "<region>")
    return value


def line_differences(aws: str, simulated: str, path: str) -> Iterator[str]:
    """Yield the forms of lines that only one of two configuration files has."""
    theirs, ours = (set(_forms_of_lines(text)) for text in (aws, simulated))
    yield from (f"{path}: only AWS has the line {form!r}" for form in sorted(theirs - ours))
    yield from (f"{path}: only the simulation has the line {form!r}" for form in sorted(ours - theirs))


def _members(aws: Mapping[str, Any], simulated: Mapping[str, Any], path: str) -> Iterator[str]:
    yield from (f"{path}.{name}: only AWS has it: {aws[name]!r}" for name in aws if name not in simulated)
    yield from (f"{path}.{name}: only the simulation has it: {simulated[name]!r}" for name in simulated if name not in aws)
    for name in (each for each in aws if each in simulated):
        if name in FORMS:
            yield from differences(_forms(aws[name]), _forms(simulated[name]), f"{path}.{name}")
        else:
            yield from differences(aws[name], simulated[name], f"{path}.{name}")


def _items(aws: list[Any], simulated: list[Any], path: str) -> Iterator[str]:
    if len(aws) != len(simulated):
        yield f"{path}: AWS has {len(aws)} items, the simulation has {len(simulated)}"
        return
    for index, (theirs, ours) in enumerate(zip(sorted(aws, key=_order), sorted(simulated, key=_order), strict=True)):
        yield from differences(theirs, ours, f"{path}[{index}]")


def _forms(items: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Return the members that items of each type of resource have, with their types."""
    found: dict[str, dict[str, str]] = {}
    for item in items:
        found.setdefault(str(item.get("ResourceType")), {}).update({name: _type(value) for name, value in item.items()})
    return found


def _forms_of_lines(text: str) -> Iterator[str]:
    """Yield each line without comments, with numbers, addresses and lists of nodes made equal."""
    agents = _ADDED.sub(r"\1", SlurmConf.parse(text).text)  # without what our scripts add to the file or disable in it
    for line in without_numbers(agents).splitlines():
        form = " ".join(line.partition("#")[0].split())
        if form:
            yield re.sub(r"(?<==)\d+(?=\s|$)", "N", _NODES.sub("<nodes>", form))


def _order(item: Any) -> str:
    names = ("InstanceGroupName", "Name", "InstanceName", "Key")
    first = [item.get(name) for name in names] if isinstance(item, dict) else []
    return json.dumps([first, item], sort_keys=True, default=str)


def _type(value: Any) -> str:
    return "null" if value is None else type(value).__name__


def _name(path: str) -> str:
    return path.rpartition(".")[2].partition("[")[0]


def counted(found: list[str]) -> str:
    """Return the differences as text, each once with its count."""
    return "\n".join(f"{text} ({count} times)" if count > 1 else text for text, count in Counter(found).items())
