"""A wrong value has the same problems in a field and in the override of the same member, each with its own path."""

import copy
from typing import Any

import pytest

from cluster_request.request_fields import ENTRY, GROUPS, TRANSFORMED, Names, request_fields
from cluster_request.service_model import Shape, input_shape, shape
from config.errors import Path, Problem
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
