"""Comments of an imported file: kept, new and dropped parts, and the wait time."""

from collections.abc import Iterator
from pathlib import Path

from cli.group_members import groups_of
from cli.import_cluster.api_setup import uses_api
from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.commented_yaml import Part
from cli.import_cluster.deployed_values import LIFE_CYCLE, ROLE, SOURCE, repeats_network
from cli.import_cluster.groups import own_tags_of
from cli.import_cluster.kubernetes import eks_arn_of
from cli.import_cluster.original import Original
from cli.import_cluster.roles import Roles, unknown_parameters


def head_note(original: Original, choices: Choices) -> tuple[str, ...]:
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


def groups_note(original: Original, roles: Roles) -> tuple[str, ...]:
    """Return the comments above the groups."""
    file, comments = Path(original.parameters_file).name, []
    if roles.dropped:
        comments.append(f"Dropped, because they are not instance groups: {', '.join(roles.dropped)} of {file}.")
    if roles.also_workers:
        names = ", ".join(roles.also_workers)
        comments.append(f"{file} lists {names} as login group and among worker_groups; imported as login group only.")
    return tuple(comments)


def wait_part(original: Original, choices: Choices) -> Part:
    """Return the wait time for deep health checks of new nodes, if there are any."""
    checked = any(group.get("OnStartDeepHealthChecks") for group in original.groups)
    if not checked or choices.adopt:
        return Part({})
    return Part({"wait_hours": 3}, ("Deep health checks take up to two hours, and a deployment waits for the nodes.",))
