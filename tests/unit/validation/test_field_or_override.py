"""A wrong value has the same problems in a field and in the override of the same member, each with its own path."""

import copy
from typing import Any

import pytest

from cluster_request.eks_addons import addons_after_nodes
from cluster_request.kubernetes_objects.dependencies import objects_of
from cluster_request.request_fields import ENTRY, GROUPS, TRANSFORMED, Names, request_fields
from cluster_request.service_model import Shape, input_shape, shape
from config.errors import Level, Path, Problem, dotted
from config.instance_group import InstanceGroup
from validation.override_values import RESERVED

EXISTING = {
    "vpc_id": "vpc-0123456789abcdef0",
    "node_subnet_ids": ["subnet-0123456789abcdef0"],
    "security_group_id": "sg-0123456789abcdef0",
}
WORK = 2
"""The index of the draft's compute group."""

# Values of the right form that a rule rejects: of a draft of ml.p5.48xlarge in us-west-2.
RULES: dict[str, list[Any]] = {
    "TrainingPlanArn": [
        "arn:aws:sagemaker:eu-west-1:123456789012:training-plan/in-another-region",
        "arn:aws-cn:sagemaker:us-west-2:123456789012:training-plan/in-another-partition",
    ],
    "ExecutionRole": ["arn:aws-cn:iam::123456789012:role/in-another-partition"],
    "InstanceType": ["ml.zz9.large"],
    "OnStartDeepHealthChecks": [["InstanceStress"], ["InstanceStress", "InstanceStress"], ["MultiNodeTrainingValidation"]],
    "Subnets": [["subnet-0123456789abcdef0", "subnet-0123456789abcdef0"]],
}


def leaf(members: Names) -> Shape:
    """Return the shape of the member."""
    found = shape(input_shape("CreateCluster"))
    for name in members:
        found = shape(found["member"]["shape"] if name == ENTRY else found["members"][name]["shape"])
    return found


def wrong(model: Shape) -> list[Any]:
    """Return values that the member's type, bounds, choices or pattern exclude."""
    match model["type"]:
        case "string":
            return [7, True, "", "no such value", "$ANY", "x" * 3000]
        case "integer":
            return [True, "7", "many", 1.5, -1, model.get("min", 0) - 1, model.get("max", 10**9) + 1]
        case "list":
            return ["word", 7, {"a": 1}, ["no such value"], [7]]
    raise AssertionError(model["type"])


MEMBERS = {
    members: field
    for members, field in request_fields().items()
    if field not in TRANSFORMED and (members[2] if members[:2] == GROUPS else members[0]) not in RESERVED
}
CASES = [(members, value) for members in MEMBERS for value in (*wrong(leaf(members)), *RULES.get(members[-1], ()))]


def given(members: Names, field: Path, value: Any, draft: Any, *, overridden: bool) -> Path:
    """Set the member in the draft by its field or by an override, and return the path."""
    in_group = members[:2] == GROUPS
    if not overridden:
        path: Path = ("instance_groups", WORK, *field[1:]) if field[0] == "instance_groups" else field
        draft.set(*path, value)
        return path
    above: Path = ("instance_groups", WORK, "overrides") if in_group else ("overrides",)
    names = members[2:] if in_group else members
    nested: Any = value
    for name in reversed(names[1:]):
        nested = [nested] if name == ENTRY else {name: nested}
    draft.set(*above, names[0], nested)
    return (*above, *(0 if name == ENTRY else name for name in names))


def problems(draft: Any, path: Path) -> set[tuple[str, str, str, str, Path]]:
    """Return the draft's problems, with paths from the member on."""
    return {
        _relative(each, path) for each in draft.problems() if each.rule not in ("override-replaces-field", "vpc-config-override")
    }


def _relative(problem: Problem, path: Path) -> tuple[str, str, str, str, Path]:
    below = problem.path[len(path) :] if problem.path[: len(path)] == path else problem.path
    return problem.rule, problem.level.value, repr(problem.value), problem.message, below


def test_both_ways_are_tried_for_each_member_that_has_them() -> None:
    of_a_group = {members[2:] for members in MEMBERS if members[:2] == GROUPS}
    assert of_a_group == {
        ("InstanceType",),
        ("ThreadsPerCore",),
        ("MinInstanceCount",),
        ("OnStartDeepHealthChecks",),
        ("InstanceStorageConfigs", ENTRY, "EbsVolumeConfig", "VolumeSizeInGB"),
        ("TrainingPlanArn",),
        ("ImageId",),
        ("ExecutionRole",),
        ("LifeCycleConfig", "OnCreate"),
    }
    assert MEMBERS.keys() - {(*GROUPS, *members) for members in of_a_group} == {
        ("NodeRecovery",),
        ("VpcConfig", "Subnets"),
        ("VpcConfig", "SecurityGroupIds", ENTRY),
    }


@pytest.mark.parametrize(("members", "value"), CASES, ids=[f"{'.'.join(members)}-{str(value)[:30]}" for members, value in CASES])
def test_a_wrong_value_has_the_same_problems_in_a_field_and_in_an_override(members: Names, value: Any, draft: Any) -> None:
    draft.put("own/on_create.sh").set("lifecycle", "source", "own").set("network", "existing", EXISTING)
    assert not problems(draft, ())
    valid = copy.deepcopy(draft.content)
    of_field = problems(draft, given(members, MEMBERS[members], value, draft, overridden=False))
    draft.content = valid
    of_override = problems(draft, given(members, MEMBERS[members], value, draft, overridden=True))
    assert of_field, "the value is accepted"
    assert of_field == of_override


TAINT = {"key": "dedicated", "value": "train", "effect": "NoSchedule"}
LABELS = ({"pool": "a"}, {"sagemaker.amazonaws.com/node": "a"}, {"kubernetes.io/hostname": "a"})
TAINTS = (
    [TAINT],
    [{**TAINT, "effect": "PreferNoSchedule"}],
    [{"key": "b", "effect": "NoExecute"}],
    [TAINT, {**TAINT, "value": "b"}],
    [TAINT, {**TAINT, "key": "node.kubernetes.io/unreachable"}],
)


def as_member(taints: list[dict[str, str]]) -> dict[str, Any]:
    """Return the member of the request that has these taints."""
    return {"KubernetesConfig": {"Taints": [{name.title(): value for name, value in each.items()} for each in taints]}}


KEY = "arn:aws:kms:eu-west-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"
ENCRYPTED = {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeKmsKeyId": KEY, "RootVolume": True}}]}
# Each field of a group whose member has another form or that objects have, with values that have objects or that a rule reports.
BOTH: dict[str, list[tuple[Any, dict[str, Any]]]] = {
    "instance_type": [(each, {"InstanceType": each}) for each in ("ml.zz9.large", "ml.trn1.32xlarge")],
    "labels": [(each, {"KubernetesConfig": {"Labels": each}}) for each in LABELS],
    "taints": [(each, as_member(each)) for each in TAINTS],
    "volume_key_arn": [(KEY, ENCRYPTED)],
    "capacity": [("spot", {"CapacityRequirements": {"Spot": {}}}), ("on_demand", {"CapacityRequirements": {"OnDemand": {}}})],
    "execution_role": [(each, {"ExecutionRole": each}) for each in ("arn:aws:iam::123456789012:role/Vision",)],
}


def test_each_field_of_a_group_is_tried_both_ways() -> None:
    fields = {name for name, each in InstanceGroup.model_fields.items() if each.json_schema_extra["api"]}  # type: ignore[index]
    others = {"name", "instance_count", "role", "partition"}  # reserved, and of Slurm
    assert fields - others == BOTH.keys() | {str(field[1]) for field in MEMBERS.values() if field[0] == "instance_groups"}


def seen(draft: Any) -> tuple[Any, ...]:
    """Return the draft's problems, and the objects and add-ons of a draft without errors."""
    found = [each for each in draft.problems() if each.rule != "override-replaces-field"]
    told = sorted((each.rule, each.level.value, each.message) for each in found)
    is_wrong = any(each.level is Level.ERROR for each in found)
    return told, *([] if is_wrong else [objects_of(draft.config(), region="us-west-2"), addons_after_nodes(draft.config())])


@pytest.mark.parametrize(("field", "both"), [(field, both) for field, each in BOTH.items() for both in each], ids=str)
def test_a_field_of_all_groups_and_its_override_have_the_same_problems_and_objects(
    field: str, both: tuple[Any, dict[str, Any]], eks_draft: Any
) -> None:
    valid = copy.deepcopy(eks_draft.remove("instance_groups", 1, "taints").content)
    for index in range(2):
        eks_draft.set("instance_groups", index, field, both[0])
    of_field, eks_draft.content = seen(eks_draft), valid
    for index in range(2):
        eks_draft.set("instance_groups", index, "overrides", both[1])
    assert seen(eks_draft) == of_field


def test_a_taint_of_an_override_replaces_the_fields_in_tolerations(eks_draft: Any) -> None:
    eks_draft.set("instance_groups", 1, "overrides", as_member([{"key": "b", "effect": "NoSchedule"}]))
    coredns = addons_after_nodes(eks_draft.config())[0]
    assert [each["key"] for each in coredns.configuration["tolerations"]] == ["CriticalAddonsOnly", "b"]


def test_the_problem_of_a_label_or_a_taint_has_its_place(eks_draft: Any) -> None:
    eks_draft.set("instance_groups", 1, "taints", TAINTS[-1]).set("instance_groups", 0, "labels", {"k8s.io/y": "a"})
    assert [dotted(each.path) for each in eks_draft.problems()] == [
        'instance_groups[0].labels["k8s.io/y"]',
        "instance_groups[1].taints[1].key",
    ]
