"""The cluster file of an original: its fields, the rest in `overrides`, and comments."""

from dataclasses import dataclass
from pathlib import Path

from cli.import_cluster.api_setup import in_api_form, is_continuous, mounts_of, moved, not_moved
from cli.import_cluster.check import checked_roles
from cli.import_cluster.choices import Choices
from cli.import_cluster.commented_yaml import Part, schema_note, written
from cli.import_cluster.deployed_values import values_of
from cli.import_cluster.equality import unequal
from cli.import_cluster.groups import group_fields, tags_of, with_overrides
from cli.import_cluster.notes import groups_note, head_note, wait_part
from cli.import_cluster.original import Original
from cli.import_cluster.place import network_part, place_of, region_part
from cli.import_cluster.roles import Roles
from cli.import_cluster.scripts import lifecycle_part
from cli.import_cluster.slurm import slurm_part
from cli.import_cluster.storage import storage_part
from cluster_request.request import Request
from config.errors import ConfigError, Level, Problem
from config.model import ClusterConfig
from validation.checked_file import check_source


@dataclass(frozen=True)
class Imported:
    """The text of the file, and the problems of the cluster that it describes."""

    text: str
    config: ClusterConfig | None
    problems: tuple[Problem, ...] = ()


def imported(original: Original, choices: Choices, *, name: str = "imported", folder: Path = Path()) -> Imported:
    """Return the cluster file for the original, as ``name``.yaml in ``folder``; raise a ConfigError if it cannot be written."""
    try:
        return _imported(original, choices, name, folder)
    except ConfigError as error:
        raise original.placed(error) from None


def _imported(original: Original, choices: Choices, name: str, folder: Path) -> Imported:
    roles = checked_roles(original, choices)
    lifecycle = lifecycle_part(original, choices)
    if (other := moved(original, choices, roles)) is not None:
        made = _written(other, choices, roles, lifecycle, name=name, folder=folder)
        errors = [problem for problem in made.problems if problem.level is Level.ERROR]
        kept = _written(original, choices, roles, lifecycle, name=name, folder=folder).problems if errors else ()
        reasons = [each for each in errors if each.message not in {problem.message for problem in kept}]
        if not reasons:
            return made
        original = not_moved(original, reasons[0])
    return _written(original, choices, roles, lifecycle, name=name, folder=folder)


def _written(original: Original, choices: Choices, roles: Roles, lifecycle: Part, *, name: str, folder: Path) -> Imported:
    original = in_api_form(original, choices)
    text = written(
        [Part({}, (*schema_note(folder), *head_note(original, choices))), *_parts(original, choices, roles, lifecycle)]
    )
    checked = check_source(text.encode(), name, folder)
    reasons = [each for each in checked.problems if each.level is Level.ERROR or each.rule == "resources-of-another-network"]
    if checked.config is None or reasons:
        return Imported(text, None, tuple(reasons))
    found = unequal(original, choices, checked.config)
    problems = [Problem(("InstanceGroups",), path, "differs in the file's request; please report it") for path in found]
    return Imported(text, checked.config, tuple(problems))


def _parts(original: Original, choices: Choices, roles: Roles, lifecycle: Part) -> list[Part]:
    request, place, mounts = original.request, place_of(original, choices), mounts_of(original, choices)
    storage, slurm = storage_part(original, choices), slurm_part(original, choices)
    settings = Part(
        {
            **({"provisioning": "continuous"} if is_continuous(original, choices) else {}),
            **({"node_recovery": request["NodeRecovery"]} if "NodeRecovery" in request else {}),
        }
    )
    groups, overrides = with_overrides(
        original,
        [group_fields(group, roles, choices.keep, has_mounts=mounts is not None) for group in original.groups],
        {**lifecycle.sections, **storage.sections, **slurm.sections, **settings.sections},
        keep=choices.keep,
        values=values_of(request, choices.keep, mounts),
    )
    return [
        region_part(place),
        _name(request, choices),
        network_part(original, choices, place),
        storage,
        Part({"instance_groups": groups}, groups_note(original, roles)),
        lifecycle,
        slurm,
        settings,
        wait_part(original, choices),
        Part({"tags": tags_of(request)} if tags_of(request) else {}),
        Part({"overrides": overrides} if overrides else {}, ("Fields of CreateCluster, unchanged.",) if overrides else ()),
    ]


NAME_NOTE = "The original's name. While the original exists, remove this line, or the deployment fails; a name is then generated."


def _name(request: Request, choices: Choices) -> Part:
    if "ClusterName" not in request:
        return Part({})
    if choices.adopt:
        return Part({"cluster_name": request["ClusterName"], "adopt": True}, ("The existing cluster is adopted.",))
    return Part({"cluster_name": request["ClusterName"]}, (NAME_NOTE,))
