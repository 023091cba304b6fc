"""The lifecycle section of an imported cluster."""

from collections.abc import Iterator

from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.commented_yaml import Part
from cli.import_cluster.deployed_values import LIFE_CYCLE
from cli.import_cluster.original import GROUPS, Original
from config.errors import ConfigError, Problem
from config.lifecycle import ON_CREATE

FIX = "pass the folder of the original's scripts with --scripts, or use our on_create.sh"


def lifecycle_part(original: Original, choices: Choices) -> Part:
    """Return our scripts, those in ``choices.scripts``, or the original's, which `overrides` keep."""
    if choices.keep is Keep.EVERYTHING:
        return Part({})
    if choices.scripts is not None:
        names = [group.get(LIFE_CYCLE, {}).get("OnCreate") for group in original.groups]
        started = next((name for name in names if name), None)
        section = {"source": choices.scripts, **({"on_create": started} if started else {})}
        return Part({"lifecycle": section}, ("The original's scripts.",))
    if problems := list(_not_ours(original)):
        raise ConfigError({original.request_file: problems})
    return Part({})


def _not_ours(original: Original) -> Iterator[Problem]:
    """Yield entry scripts that are not among ours, and that nodes could not start."""
    for index, group in enumerate(original.groups):
        scripts = group.get(LIFE_CYCLE, {})
        for member in ("OnCreate", "OnInitComplete"):
            name = scripts.get(member)
            if name is not None and (member, name) != ("OnCreate", ON_CREATE):
                yield Problem((GROUPS, index, LIFE_CYCLE, member), name, f"is not one of our scripts; {FIX}")


def on_create_of(part: Part) -> str:
    """Return the script that HyperPod starts."""
    section = part.sections.get("lifecycle")
    return str(section.get("on_create", ON_CREATE)) if isinstance(section, dict) else ON_CREATE
