"""Check that the resources of a request are in the cluster's region, account and partition."""

from collections.abc import Iterable, Iterator

from cluster_request.effective_request import EffectiveRequest, Member
from config.arns import Arn, in_another_region, of_another_account
from config.errors import Level, Path, Problem
from config.zones import partition_of
from validation.rules.registry import request_rule


def _keys(request: EffectiveRequest) -> Iterable[Member]:
    """Return the KMS keys of volumes, each once for a field, which sets the key of two volumes."""
    entries = (each for group in request.groups for each in group.entries("InstanceStorageConfigs"))
    keys = (each.member("EbsVolumeConfig", "VolumeKmsKeyId") for each in entries)
    return {key.path: key for key in keys if key.text}.values()


def _arns(request: EffectiveRequest) -> Iterator[tuple[Path, str]]:
    """Yield every ARN of the file with its path."""
    config = request.config
    yield ("alarm_topic_arn",), config.alarm_topic_arn or ""
    yield ("monitoring", "topic_arn"), config.monitoring.topic_arn or ""
    if slurm := config.slurm:
        yield ("slurm", "accounting", "secret_arn"), slurm.accounting.secret_arn or ""
        yield ("slurm", "accounting", "secret_key_arn"), slurm.accounting.secret_key_arn or ""
    role = config.node_role
    yield ("node_role", "permissions_boundary_arn"), role.permissions_boundary_arn or ""
    yield from ((("node_role", "managed_policy_arns", index), arn) for index, arn in enumerate(role.managed_policy_arns))
    for index, statement in enumerate(role.statements):
        places = ((("node_role", "statements", index, "Resource", place), arn) for place, arn in enumerate(statement.Resource))
        yield from ((path, arn) for path, arn in places if "*" not in Arn.of(arn).partition)
    if eks := config.eks:
        yield ("eks", "secrets_key_arn"), eks.secrets_key_arn or ""
        yield from eks.principals()
    plans = [group.member("TrainingPlanArn") for group in request.groups]
    roles = [group.member("ExecutionRole") for group in request.groups if group.sets("ExecutionRole")]
    yield from ((each.path, each.text) for each in (*plans, *roles, *_keys(request)))


@request_rule(
    "arn-partition",
    *("alarm_topic_arn", "monitoring", "slurm.accounting", "node_role", "instance_groups[]", "region"),
    *("eks.secrets_key_arn", "eks.admins", "eks.teams[]"),
)
def arn_partition(request: EffectiveRequest) -> Iterator[Problem]:
    """ARNs must have the partition of their region: `arn:aws-us-gov:` in us-gov-west-1, `arn:aws-cn:` in cn-north-1.

    A resource of another partition does not exist there: the request fails after network and storage are created.
    """
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
    for path, arn in _arns(request):
        found = Arn.of(arn)
        region = found.region or request.config.region
        expected = partition_of(region) if region else None
        if found.partition and expected and found.partition != expected:
            yield Problem(path, arn, f"wrong partition {found.partition} for {region}", f"start it with arn:{expected}:")


@request_rule("training-plan-region", "instance_groups[]", "region")
def training_plan_region(request: EffectiveRequest) -> Iterator[Problem]:
    """A group's training plan must be in the cluster's region.

    Its capacity exists only there: the group gets none, and the cluster does not start.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-utilization-for-hyperpod.html
    for plan in (group.member("TrainingPlanArn") for group in request.groups):
        if where := in_another_region(plan.text, request.config):
            yield plan.problem(where, f"use a plan in {request.config.region}, or move the cluster to the plan's region")


@request_rule("training-plan-account", "instance_groups[]", "region", "account", level=Level.WARNING)
def training_plan_account(request: EffectiveRequest) -> Iterator[Problem]:
    """A group's training plan should belong to the cluster's account.

    AWS documents no way to use another account's plan: the group gets no capacity, and the cluster does not start.
    """
    for plan in (group.member("TrainingPlanArn") for group in request.groups):
        whose = of_another_account(plan.text, request.config)
        if whose and not in_another_region(plan.text, request.config):
            yield plan.problem(whose, "use a plan of the cluster's account, or suppress this warning")


@request_rule("volume-key-region", "instance_groups[]", "region")
def volume_key_region(request: EffectiveRequest) -> Iterator[Problem]:
    """The KMS keys of volumes must be in the cluster's region.

    EBS uses only keys in its own region: no node of the group would start.
    """
    # https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html
    for key in _keys(request):
        if where := in_another_region(key.text, request.config):
            yield key.problem(where, f"use a key in {request.config.region}")
