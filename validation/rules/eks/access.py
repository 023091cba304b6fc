"""Check admins and teams: the IAM principals that use the EKS cluster."""

from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest
from config.entries import numbered, repeated
from config.errors import ABSENT, Level, Path, Problem, dotted
from config.model import ClusterConfig, eks_of
from config.teams import NAMESPACE_PREFIX
from validation.rules.registry import eks_request_rule, eks_rule

SERVICE_LINKED = ":role/aws-service-role/"


@eks_request_rule("unique-principals", "eks.admins", "eks.teams[]", "instance_groups[]")
def unique_principals(request: EffectiveRequest) -> Iterator[Problem]:
    """Each IAM principal must be listed once: in `admins` or in one team. Roles of nodes belong to HyperPod.

    EKS has one access entry per principal, and HyperPod creates those of the nodes.
    """
    nodes = {group.member("ExecutionRole").text for group in request.groups}
    first: dict[str, Path] = {}
    for path, arn in eks_of(request.config).principals():
        if first.setdefault(arn, path) != path:
            yield Problem(path, arn, f"already in {dotted(first[arn])}", "list each principal once")
        elif arn in nodes:
            yield Problem(path, arn, "is the role of nodes, whose access entry HyperPod creates", "use a role of people")


@eks_rule("no-admins", "eks.admins", "eks.existing", level=Level.WARNING)
def no_admins(config: ClusterConfig) -> Iterator[Problem]:
    """The file should name the `admins` of a new EKS cluster.

    The role that creates it gets no access, so Kubernetes refuses kubectl, `./hpod status` and `./hpod drain`.
    """
    eks = eks_of(config)
    if not eks.existing and not eks.admins:
        yield Problem(("eks", "admins"), ABSENT, "without an administrator, kubectl has no access", "add the ARN of an IAM role")


@eks_rule("service-linked-principals", "eks.admins", "eks.teams[]")
def service_linked_principals(config: ClusterConfig) -> Iterator[Problem]:
    """Admins and teams must not be service-linked roles.

    EKS rejects an access entry for them.
    """
    # https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html
    for path, arn in eks_of(config).principals():
        if SERVICE_LINKED in arn:
            yield Problem(path, arn, "is a service-linked role, which no person can use", "use another role")


@eks_rule("unique-team-names", "eks.teams[]")
def unique_team_names(config: ClusterConfig) -> Iterator[Problem]:
    """Names of teams must be unique.

    A team's namespace, access entries and quota have its name.
    """
    for index, name, first in repeated((index, team.name) for index, team in numbered(eks_of(config).teams)):
        yield Problem(("eks", "teams", index, "name"), name, f"already used by eks.teams[{first}]", "use a unique name")


@eks_rule("team-name-prefix", "eks.teams[]", level=Level.WARNING)
def team_name_prefix(config: ClusterConfig) -> Iterator[Problem]:
    """Names of teams should not begin with `hyperpod-ns-`.

    HyperPod adds this prefix to the name of the team's namespace.
    """
    for index, team in numbered(eks_of(config).teams):
        if team.name.startswith(NAMESPACE_PREFIX):
            short = team.name.removeprefix(NAMESPACE_PREFIX)
            known = (f"the namespace would be {team.namespace}", f"use {short}")
            parts = known if short else ("use a name without the prefix",)
            yield Problem(("eks", "teams", index, "name"), team.name, *parts)
