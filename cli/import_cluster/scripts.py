"""The lifecycle section of an imported cluster."""

from collections.abc import Iterator, Mapping

from cli.import_cluster.api_setup import uses_api
from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.commented_yaml import Part
from cli.import_cluster.deployed_values import LIFE_CYCLE
from cli.import_cluster.original import GROUPS, Original
from config.errors import ConfigError, Problem
from config.lifecycle import ON_CREATE

API_FIX = "keep the original's with --keep everything, or use our on_create.sh"
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
    if problems := list(_not_ours(original, is_api=uses_api(original, choices))):
        raise ConfigError({original.request_file: problems})
    return Part({})


def _not_ours(original: Original, *, is_api: bool) -> Iterator[Problem]:
    """Yield entry scripts that are not among ours, and that nodes could not start."""
    for index, group in enumerate(original.groups):
        scripts = group.get(LIFE_CYCLE, {})
        for member in ("OnCreate", "OnInitComplete"):
            name = scripts.get(member)
            if name is not None and (name != ON_CREATE or (member != "OnCreate" and not is_api)):
                fix = API_FIX if is_api else FIX
                yield Problem((GROUPS, index, LIFE_CYCLE, member), name, f"is not one of our scripts; {fix}")


def on_create_of(sections: Mapping[str, object]) -> str:
    """Return the script that HyperPod starts."""
    section = sections.get("lifecycle")
    return str(section.get("on_create", ON_CREATE)) if isinstance(section, dict) else ON_CREATE
