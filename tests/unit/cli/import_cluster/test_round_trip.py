"""A cluster file's request, imported, gives a file with the same request."""

from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cli.import_cluster import Choices, Imported, Keep, Original, imported
from cli.import_cluster.commented_yaml import Part, written
from cluster_request.request import RESERVED_CLUSTER_MEMBERS, RESERVED_GROUP_MEMBERS, RequestValues, cluster_request, merged
from config.instance_group import Role
from config.model import ClusterConfig
from config.tags import RESERVED
from tests.unit.cli.import_cluster.originals import Json, by_scripts
from tests.unit.cluster_request.request_leaves import holding, leaves
from tests.unit.validation.override_drafts import EXISTING
from validation.load import parse_cluster

VALUES = RequestValues(
    execution_role_arn="arn:aws:iam::111122223333:role/theirs",
    source_s3_uri="s3://sagemaker-theirs/src",
    subnet_ids=["subnet-0a1b2c3d4e5f67890", "subnet-1a1b2c3d4e5f67890"],
    security_group_ids=["sg-0a1b2c3d4e5f67890", "sg-1a1b2c3d4e5f67890"],
)
# Role and scripts are the deployment's where they are not kept, and HyperPod refuses SlurmConfig with ours; the others have to
# fit what else the group has.
NOT_DRAWN = {
    *("ExecutionRole", "LifeCycleConfig", "SlurmConfig"),
    *("InstanceType", "InstanceRequirements", "OnStartDeepHealthChecks", "MinInstanceCount"),
}
GROUP_LEAVES = [leaf for leaf in leaves() if leaf[0] == "InstanceGroups" and leaf[2] not in {*RESERVED_GROUP_MEMBERS, *NOT_DRAWN}]
CLUSTER_LEAVES = [leaf for leaf in leaves() if leaf[0] not in {*RESERVED_CLUSTER_MEMBERS, "VpcConfig", "Orchestrator"}]

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
tag_texts = st.text(st.characters(categories=["L", "Z", "N"], include_characters="_.:/=+-@"), max_size=20)
tag_keys = tag_texts.filter(lambda key: key and not key.lower().startswith(RESERVED))
names = st.from_regex(r"[a-zA-Z0-9](-?[a-zA-Z0-9]){0,9}", fullmatch=True)
partitions = st.from_regex(r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,9}", fullmatch=True)


@st.composite
def overrides(draw: st.DrawFn, choices: list[Any], below: int) -> Json:
    """Some of the fields, each with what it needs beside it."""
    found: Json = {}
    for leaf in draw(st.lists(st.sampled_from(choices), max_size=4)):
        value = holding(leaf)
        for part in leaf[:below]:
            value = value[part]
        found = merged(found, {leaf[below]: value[leaf[below]]})
    if "ScheduledUpdateConfig" in found:
        found["ScheduledUpdateConfig"]["ScheduleExpression"] = draw(texts)
    return found


@st.composite
def groups(draw: st.DrawFn, role: str) -> Json:
    """A group of the role."""
    checks = draw(st.lists(st.sampled_from(["InstanceStress", "InstanceConnectivity"]), unique=True))
    optional = {
        "threads_per_core": draw(st.sampled_from([None, 1, 2])),
        "volume_gib": draw(st.sampled_from([None, 1, 500])),
        "deep_health_checks": checks if role == "compute" else None,
        "partition": draw(partitions) if role == "compute" else None,
    }
    return {
        "name": draw(names),
        "role": role,
        "instance_type": draw(st.sampled_from(["ml.p5.48xlarge", "ml.trn1.32xlarge"])),
        "instance_count": draw(st.integers(0, 20)) if role == "compute" else 1,
        **{name: value for name, value in optional.items() if value is not None},
        "overrides": draw(overrides(GROUP_LEAVES, 2)),
    }


@st.composite
def clusters(draw: st.DrawFn) -> ClusterConfig:
    """A cluster of a valid file."""
    roles = ["controller", *draw(st.sampled_from([[], ["login"]])), *draw(st.lists(st.just("compute"), max_size=3))]
    made = [draw(groups(role)) for role in draw(st.permutations(roles))]
    assume(len({group["name"] for group in made}) == len(made))
    recovery, name = draw(st.sampled_from([{}, {"node_recovery": "None"}])), draw(st.none() | names)
    content: Json = {
        "network": {"availability_zone_id": "usw2-az4", "existing": EXISTING},
        "slurm": {"setup": "scripts"},
        "instance_groups": made,
        "tags": draw(st.dictionaries(tag_keys, tag_texts, max_size=3)),
        "overrides": draw(overrides(CLUSTER_LEAVES, 0)),
        **recovery,
        **({"cluster_name": name} if name else {}),
    }
    parsed = parse_cluster(written([Part(content)]).encode(), "draft")
    assert isinstance(parsed, ClusterConfig), parsed
    return parsed


def again(config: ClusterConfig, keep: Keep) -> tuple[Json, Imported]:
    """The cluster's request, and what importing it gives."""
    request = cluster_request(config, values=VALUES)
    if config.cluster_name is not None:
        request["ClusterName"] = config.cluster_name
    of_role = {role: [group for group in config.instance_groups if group.role is role] for role in Role}
    parameters: Json = {
        "controller_group": of_role[Role.CONTROLLER][0].name,
        "worker_groups": [
            {"instance_group_name": group.name, "partition_name": group.partition} for group in of_role[Role.COMPUTE]
        ],
        **({"login_group": of_role[Role.LOGIN][0].name} if of_role[Role.LOGIN] else {}),
    }
    kept = keep is not Keep.NOTHING
    choices = Choices(keep=keep, zone="usw2-az4", vpc_id="vpc-0123456789abcdef0" if kept else None)
    return request, imported(Original(request, parameters), choices)


QUICK = settings(max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(clusters())
def test_a_cluster_that_keeps_everything_asks_for_the_very_same(config: ClusterConfig) -> None:
    request, made = again(config, Keep.EVERYTHING)
    assert made.problems == ()
    assert made.config is not None
    found = cluster_request(made.config, values=RequestValues.samples(made.config))
    assert {**found, **({"ClusterName": made.config.cluster_name} if made.config.cluster_name else {})} == request


@QUICK
@given(clusters(), st.sampled_from([Keep.NOTHING, Keep.NETWORK]))
def test_a_recreated_cluster_requests_the_same_with_its_own_values(config: ClusterConfig, keep: Keep) -> None:
    request, made = again(config, keep)
    elsewhere = ("OverrideVpcConfig", "FsxLustreConfig", "FsxOpenZfsConfig")
    if keep is Keep.NOTHING and any(name in str(request) for name in elsewhere):
        assert {problem.rule for problem in made.problems} == {"resources-of-another-network"}
        return
    assert made.problems == ()
    assert made.config is not None
    found, expected = (cluster_request(each, values=VALUES) for each in (made.config, config))
    assert (by_scripts(found) if made.config.uses_slurm_api else found) == expected
    assert made.config.uses_slurm_api or keep is Keep.NETWORK or "Scripts set up Slurm, because" in made.text
    assert [(group.role, group.partition) for group in made.config.instance_groups] == [
        (group.role, group.partition) for group in config.instance_groups
    ]
