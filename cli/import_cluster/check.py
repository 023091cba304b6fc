"""Problems of an original, with paths in its own files, and the fields in which the new file's request differs from it."""

from collections.abc import Iterator, Mapping
from typing import Any

from cli.group_members import groups_of
from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.deployed_values import placeholder_problems, values_of, with_values
from cli.import_cluster.groups import tags_of
from cli.import_cluster.node_setup import mounts_of
from cli.import_cluster.original import GROUPS, VPC, Original, eks_arn_of, without
from cli.import_cluster.roles import Roles, parameter_problems, roles_of
from cluster_request.request import Request, cluster_request
from cluster_request.request_check import check_request
from config.errors import ABSENT, ConfigError, Path, Problem, dotted
from config.model import ClusterConfig


def checked_roles(original: Original, choices: Choices) -> Roles:
    """Return the roles of the groups; raise a ConfigError with everything that prevents an import."""
    in_request = [*_request_problems(original, choices)]
    in_parameters = [*parameter_problems(original.parameters)] if original.parameters is not None else []
    if in_request or in_parameters:
        raise ConfigError({original.request_file: in_request, original.parameters_file: in_parameters})
    roles = roles_of(original, drop_unknown_groups=choices.drop_unknown_groups)
    if roles.problems:
        raise ConfigError(roles.problems)
    return roles


def _request_problems(original: Original, choices: Choices) -> Iterator[Problem]:
    """Yield what SageMaker would reject, except in values that the deployment replaces."""
    checked = {"ClusterName": "cluster", **with_values(original.request, choices.keep)}
    walked = check_request(checked)
    if original.request_file in original.files:  # a running cluster has none
        pasted = list(placeholder_problems(checked))
        walked = [*(each for each in walked if each.path not in {problem.path for problem in pasted}), *pasted]
    yield from walked
    if not original.request.get(GROUPS):
        yield Problem((GROUPS,), original.request.get(GROUPS, ABSENT), "has no group", _group_fix(original))
    elif not walked:
        yield from _not_ours(original, choices)


def _group_fix(original: Original) -> str:
    if groups_of(original.request):
        return "a cluster file cannot describe a cluster with RestrictedInstanceGroups only: add an ordinary group"
    return f"add {'one' if eks_arn_of(original.request) else 'a controller group'}"


def _not_ours(original: Original, choices: Choices) -> Iterator[Problem]:
    """Yield what SageMaker accepts, but no cluster file can describe."""
    if (arn := eks_arn_of(original.request)) and original.parameters is not None:
        message = "uses EKS, which has no provisioning parameters"
        yield Problem(("Orchestrator", "Eks", "ClusterArn"), arn, message, "leave out that file")
    elif not arn and original.parameters is None and not any("SlurmConfig" in group for group in original.groups):
        fix = "for EKS, add Eks.ClusterArn; for Slurm, also pass provisioning_parameters.json"
        yield Problem(("Orchestrator",), original.request.get("Orchestrator", ABSENT), "unknown orchestrator", fix)
    for index, group in enumerate(original.groups):
        if "InstanceType" not in group and not group.get("InstanceRequirements", {}).get("InstanceTypes"):
            message = "a group requires InstanceType or InstanceRequirements"
            yield Problem((GROUPS, index, "InstanceType"), ABSENT, message, "add one of them")
    keys = [tag["Key"] for tag in original.request.get("Tags", ())]
    for index, key in enumerate(keys):
        if key in keys[:index]:
            yield Problem(("Tags", index, "Key"), key, "duplicate tag key", "remove one")
    if choices.keep is not Keep.NOTHING and VPC in original.request and choices.vpc_id is None:
        yield Problem((VPC,), original.request[VPC], "does not contain the VPC of these subnets", "pass --vpc and --zone")


def unequal(original: Original, choices: Choices, config: ClusterConfig) -> list[str]:
    """Return the fields that differ, except those that the deployment decides and our tags."""
    keep, values = choices.keep, values_of(original.request, choices.keep, mounts_of(original, choices))
    made = cluster_request(config, values=values)
    if config.cluster_name is not None:
        made["ClusterName"] = config.cluster_name
    ours, theirs = _leaves(made), _leaves(_user_tags(with_values(original.request, keep, values)))
    return [dotted(path) for path in ours | theirs if ours.get(path, NOTHING) != theirs.get(path, NOTHING)]


NOTHING = object()


def _user_tags(request: Request) -> Request:
    tags = [{"Key": key, "Value": value} for key, value in tags_of(request).items()]
    return {**without(request, "Tags"), **({"Tags": tags} if tags else {})}


def _leaves(value: Any, path: Path = ()) -> dict[Path, object]:
    """Yield every leaf with its path; an empty structure is a leaf."""
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list | tuple) else ()
    found = {leaf: item for key, below in items for leaf, item in _leaves(below, (*path, key)).items()}
    return found or {path: value}
