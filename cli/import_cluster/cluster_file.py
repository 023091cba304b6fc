"""The cluster file of an original: its fields, the rest in `overrides`, and comments."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cli.group_members import groups_of
from cli.import_cluster.check import checked_roles, unequal
from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.commented_yaml import Part, schema_note, written
from cli.import_cluster.deployed_values import LIFE_CYCLE, ROLE, SOURCE, repeats_network, values_of
from cli.import_cluster.groups import group_fields, own_tags_of, tags_of, with_overrides
from cli.import_cluster.node_setup import in_api_form, is_continuous, lifecycle_part, mounts_of, moved, not_moved, uses_api
from cli.import_cluster.original import Original, eks_arn_of
from cli.import_cluster.place import network_part, place_of
from cli.import_cluster.roles import Roles, unknown_parameters
from cli.import_cluster.sections import slurm_part, storage_part
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
        reasons = [
            each for each in errors if (each.message, each.fix) not in {(problem.message, problem.fix) for problem in kept}
        ]
        if not reasons:
            return made
        original = not_moved(original, reasons[0])
    return _written(original, choices, roles, lifecycle, name=name, folder=folder)


def _written(original: Original, choices: Choices, roles: Roles, lifecycle: Part, *, name: str, folder: Path) -> Imported:
    original = in_api_form(original, choices)
    text = written(
        [Part({}, (*schema_note(folder), *_head_note(original, choices))), *_parts(original, choices, roles, lifecycle)]
    )
    checked = check_source(text.encode(), name, folder)
    reasons = [each for each in checked.problems if each.level is Level.ERROR or each.rule == "resources-of-another-network"]
    if checked.config is None or reasons:
        return Imported(text, None, tuple(reasons))
    found = unequal(original, choices, checked.config)
    problems = [Problem(("InstanceGroups",), path, "differs in the file's request", "please report it") for path in found]
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
        Part({"region": place.region} if place.region else {}),
        _name(request, choices),
        network_part(original, choices, place),
        storage,
        Part({"instance_groups": groups}, _groups_note(original, roles)),
        lifecycle,
        slurm,
        settings,
        _wait_part(original, choices),
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


def _head_note(original: Original, choices: Choices) -> tuple[str, ...]:
    """Return the comments at the top of the file."""
    sources = [original.request_file, *([original.parameters_file] if original.parameters is not None else [])]
    return (
        f"Imported from {' and '.join(Path(source).name for source in sources)}.",
        "Kept: every field of the request except those listed here. Fields are described in docs/reference/configuration.md.",
        *_new(original, choices),
        *_left_out(original, choices),
        *original.notes,
    )


def _new(original: Original, choices: Choices) -> Iterator[str]:
    if choices.keep is Keep.EVERYTHING:
        yield "Kept in `overrides`: the nodes' roles and the scripts."
        return
    roles = sorted({group[ROLE] for group in original.groups})
    yield f"New: the nodes' role, instead of {', '.join(roles)}."
    sources = sorted({group[LIFE_CYCLE][SOURCE] for group in original.groups if SOURCE in group.get(LIFE_CYCLE, {})})
    is_api = uses_api(original, choices)
    ours = "the scripts of this project, which run after HyperPod's set-up" if is_api else "the scripts of this project"
    whose = "the original's scripts, in a bucket of the deployment" if choices.scripts else ours
    if sources:
        yield f"New: {whose}, instead of {', '.join(sources)}."
    if eks_arn_of(original.request):
        return
    if sources and is_api:
        yield "Not taken over: what the original's scripts install and users that they create. Use `lifecycle.extra` and `users`."
    elif sources and not choices.scripts:
        yield (
            "Not taken over from AWS's scripts: Docker, Enroot and Pyxis (which they install by default), exporters of metrics, "
            "mount-s3, settings of SSSD, and the users in shared_users.txt. Use `lifecycle.extra`, `directory` and `users`, or "
            "--scripts."
        )


def _left_out(original: Original, choices: Choices) -> Iterator[str]:
    repeating = [group["InstanceGroupName"] for group in groups_of(original.request) if repeats_network(group, original.request)]
    if repeating and choices.keep is Keep.NOTHING:
        yield f"Left out: OverrideVpcConfig of {', '.join(repeating)}, which repeats the original's VpcConfig."
    if own := own_tags_of(original.request):
        yield f"Left out: the tags {', '.join(own)}, which AWS or the owning deployment adds."
    if original.parameters is not None and (unknown := unknown_parameters(original.parameters)):
        yield f"Left out, because our scripts do not use them: the provisioning parameters {', '.join(unknown)}."


def _groups_note(original: Original, roles: Roles) -> tuple[str, ...]:
    """Return the comments above the groups."""
    file, comments = Path(original.parameters_file).name, []
    if roles.dropped:
        comments.append(f"Dropped, because they are not instance groups: {', '.join(roles.dropped)} of {file}.")
    if roles.also_workers:
        names = ", ".join(roles.also_workers)
        comments.append(f"{file} lists {names} as login group and among worker_groups; imported as login group only.")
    return tuple(comments)


def _wait_part(original: Original, choices: Choices) -> Part:
    """Return the wait time for deep health checks of new nodes, if there are any."""
    checked = any(group.get("OnStartDeepHealthChecks") for group in original.groups)
    if not checked or choices.adopt:
        return Part({})
    return Part({"wait_hours": 3}, ("Deep health checks take up to two hours, and a deployment waits for the nodes.",))
