"""The user's choices for an import, and their check before anything is written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from cli.errors import CommandError, as_one
from cli.questions import zone_id_problem
from config.errors import Path, Problem
from config.suggestions import nearest
from config.zones import is_plausible_region, region_of_zone, regions

# The option that sets a part of the new file, so that errors name the option.
OPTIONS: dict[Path, str] = {
    (): "write",
    ("region",): "region",
    ("network", "availability_zone_id"): "zone",
    ("network", "existing", "vpc_id"): "vpc",
    ("lifecycle", "source"): "scripts",
}


class Keep(StrEnum):
    """The existing resources that the cluster file reuses."""

    NOTHING = "nothing"
    NETWORK = "network"
    EVERYTHING = "everything"


@dataclass(frozen=True)
class Choices:
    """The options of an import."""

    keep: Keep = Keep.NOTHING
    region: str | None = None
    zone: str | None = None
    vpc_id: str | None = None
    vpc_cidr: str | None = None
    scripts: str | None = None
    """The folder of the original's scripts, from the cluster file's own folder."""
    drop_unknown_groups: bool = False
    adopt: bool = False
    profile: str | None = None


def check_place(region: str | None, zone: str | None) -> None:
    """Refuse what can be no region, no zone, or a zone of another region; of others the new file's own check warns."""
    if region is not None and not is_plausible_region(region):
        raise CommandError(f"--region: {region} is not a region of SageMaker", nearest(region, regions()))
    if zone is None:
        return
    if problem := zone_id_problem(zone, region):
        raise CommandError(f"--zone: {zone} {problem.message}", problem.fix)
    elsewhere = region_of_zone(zone)
    if region and elsewhere and elsewhere != region:
        raise CommandError(f"--zone {zone} is in {elsewhere}, but --region is {region}", "remove or correct one of the two")


def refuse_options(problems: Iterable[Problem], given: Mapping[str, object]) -> None:
    """Refuse what the new file's problems are about, where that is an option's word and not the original's."""
    wrong = [
        CommandError(f"--{option} {given[option]}: {problem.message}", problem.fix)
        for problem in problems
        if (option := OPTIONS.get(problem.path))
        and given.get(option) is not None
        and (problem.path or problem.rule == "file.name")
    ]
    if wrong:
        raise as_one(wrong)
