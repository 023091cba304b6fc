"""Problems of an original, with paths in its own files."""

from collections.abc import Iterator

from cli.group_members import groups_of
from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.deployed_values import with_values
from cli.import_cluster.kubernetes import eks_arn_of
from cli.import_cluster.original import GROUPS, VPC, Original
from cli.import_cluster.placeholders import placeholder_problems
from cli.import_cluster.roles import Roles, parameter_problems, roles_of
from cluster_request.request_check import check_request
from config.errors import ABSENT, ConfigError, Problem


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
        yield Problem((GROUPS,), original.request.get(GROUPS, ABSENT), _without_group(original))
    elif not walked:
        yield from _not_ours(original, choices)


def _without_group(original: Original) -> str:
    if groups_of(original.request):
        return "has no group; a cluster file cannot describe a cluster with RestrictedInstanceGroups only: add an ordinary group"
    return f"has no group; add {'one' if eks_arn_of(original.request) else 'a controller group'}"


def _not_ours(original: Original, choices: Choices) -> Iterator[Problem]:
    """Yield what SageMaker accepts, but no cluster file can describe."""
    if (arn := eks_arn_of(original.request)) and original.parameters is not None:
        message = "uses EKS, which has no provisioning parameters; leave out that file"
        yield Problem(("Orchestrator", "Eks", "ClusterArn"), arn, message)
    elif not arn and original.parameters is None and not any("SlurmConfig" in group for group in original.groups):
        message = "unknown orchestrator; for EKS, add Eks.ClusterArn; for Slurm, also pass provisioning_parameters.json"
        yield Problem(("Orchestrator",), original.request.get("Orchestrator", ABSENT), message)
    for index, group in enumerate(original.groups):
        if "InstanceType" not in group and not group.get("InstanceRequirements", {}).get("InstanceTypes"):
            yield Problem(
                (GROUPS, index, "InstanceType"), ABSENT, "a group requires InstanceType or InstanceRequirements; add one of them"
            )
    yield from _tag_problems(original)
    if choices.keep is not Keep.NOTHING and VPC in original.request and choices.vpc_id is None:
        yield Problem((VPC,), original.request[VPC], "does not contain the VPC of these subnets; pass --vpc and --zone")


def _tag_problems(original: Original) -> Iterator[Problem]:
    keys = [tag["Key"] for tag in original.request.get("Tags", ())]
    for index, key in enumerate(keys):
        if key in keys[:index]:
            yield Problem(("Tags", index, "Key"), key, "duplicate tag key; remove one")
