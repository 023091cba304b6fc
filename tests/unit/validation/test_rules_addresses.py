from ipaddress import IPv4Network
from typing import Any

import pytest

from tests.faults_table.recording import happened
from tests.unit.validation.test_rules_network import EXISTING


def lines(draft: Any) -> list[str]:
    found = [str(problem) for problem in draft.problems() if problem.rule.startswith("subnet-capacity")]
    for line in found:
        happened(line)
    return found


@pytest.mark.fault(54)
def test_a_range_with_too_few_addresses_suggests_a_larger_one(draft: Any) -> None:
    draft.set("network", "node_cidr", "10.1.0.0/25")
    assert lines(draft) == [
        'network.node_cidr: "10.1.0.0/25": has 123 addresses, but at least 131 are required '
        "(head 1, door 1, work 128 = 4 x 32, file system at least 1); use a range of /24 or larger, e.g. 10.1.0.0/24"
    ]


def test_addresses_are_counted_also_where_something_else_is_wrong(draft: Any) -> None:
    draft.set("network", {"availability_zone_id": "here", "node_cidr": "10.1.0.0/25"}).set("storage", "openzfs", {})
    assert "at least 131 are required" in lines(draft)[0]


@pytest.mark.fault(54)
def test_the_last_node_that_fits_is_accepted_and_the_next_rejected(draft: Any) -> None:
    draft.remove("storage")
    draft.set("network", "node_cidr", "10.1.0.0/28").set("instance_groups", 2, "instance_type", "ml.g5.xlarge")
    draft.set("instance_groups", 2, "instance_count", 9)  # of 11, two are the controller's and the login node's
    assert not lines(draft)
    draft.set("instance_groups", 2, "instance_count", 10)
    assert "has 11 addresses, but at least 12 are required" in lines(draft)[0]
    assert "use a range of /27" in lines(draft)[0]


@pytest.mark.fault(54)
def test_more_nodes_than_any_subnet_holds_suggest_several_subnets(draft: Any) -> None:
    draft.set("instance_groups", 2, "instance_count", 3000)
    assert lines(draft)[0].endswith("lower instance_count, or set several subnets in `network.existing`")


@pytest.mark.parametrize("place", ["existing", "override"])
def test_subnets_that_are_not_in_the_file_are_not_counted(draft: Any, place: str) -> None:
    draft.set("network", "node_cidr", "10.1.0.0/28")
    if place == "existing":
        draft.set("network", "existing", EXISTING)
    else:
        elsewhere = {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0123456789abcdef0"]}
        draft.set("instance_groups", 2, "overrides", "OverrideVpcConfig", elsewhere)
    assert not lines(draft)


def test_custom_security_groups_are_not_custom_subnets(draft: Any) -> None:
    draft.set("network", "node_cidr", "10.1.0.0/28").set(
        "overrides", {"VpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"]}}
    )
    assert "has 11 addresses" in lines(draft)[0]
    draft.set("overrides", "VpcConfig", "Subnets", ["subnet-0123456789abcdef0"])
    assert not lines(draft)


def test_a_range_is_proposed_that_the_vpc_can_take(draft: Any) -> None:
    draft.set("network", "vpc_cidr", "10.1.0.128/25").set("network", "public_subnet_cidr", "10.1.0.128/28")
    draft.set("network", "node_cidr", "10.1.0.0/25")
    assert lines(draft)[0].endswith("; use a range of /24 or larger, e.g. 100.64.0.0/24")


def test_efa_only_interfaces_need_no_address(draft: Any) -> None:
    draft.set("network", "node_cidr", "10.1.0.0/28")
    draft.set("instance_groups", 2, "overrides", "NetworkInterface", {"InterfaceType": "efa-only"})
    assert not lines(draft)


EKS = {"Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/mine"}}}


def test_with_eks_the_pods_take_addresses_too(draft: Any) -> None:
    draft.set("network", "node_cidr", "10.1.0.0/24").set("overrides", EKS)
    assert (
        "has 251 addresses, but at least 355 are required (head 15, door 15, work 324 = 4 x 81, file system at least 1); "
        "use a range of /23 or larger" in lines(draft)[0]
    )


def test_groups_that_only_overrides_have_are_counted_too(draft: Any) -> None:
    group = {
        "InstanceCount": 3,
        "InstanceGroupName": "nova",
        "InstanceType": "ml.p5.48xlarge",
        "ExecutionRole": "arn:aws:iam::123456789012:role/nova",
        "EnvironmentConfig": {},
    }
    draft.set("network", "node_cidr", "10.1.0.0/24").set("overrides", {"RestrictedInstanceGroups": [group]})
    assert not lines(draft)
    draft.set("overrides", "RestrictedInstanceGroups", 0, "InstanceCount", 5)
    assert "nova 160 = 5 x 32" in lines(draft)[0]


def test_of_several_types_the_smallest_is_certain_and_the_largest_possible(draft: Any) -> None:
    draft.set("network", "node_cidr", "10.1.0.0/25")
    types = {"InstanceTypes": ["ml.p5e.48xlarge", "ml.p5en.48xlarge"]}
    draft.set("instance_groups", 2, "overrides", {"InstanceType": None, "InstanceRequirements": types})
    [problem] = [each for each in draft.problems() if each.rule.startswith("subnet-capacity")]
    assert (problem.rule, problem.level) == ("subnet-capacity-largest-types", "warning")
    assert str(problem) == (
        'network.node_cidr: "10.1.0.0/25": has 123 addresses, but with the largest type of each group, 131 are '
        "required (head 1, door 1, work 128 = 4 x 32, file system at least 1); use a range of /24 or larger, e.g. 10.1.0.0/24"
    )


def test_autoscaling_reports_how_many_nodes_fit(draft: Any) -> None:
    draft.set("network", "node_cidr", "10.1.0.0/22").set("overrides", {**EKS, "AutoScaling": {"Mode": "Enable"}})
    [problem] = [each for each in draft.problems() if each.rule == "subnet-capacity-autoscaling"]
    assert "node_cidr 10.1.0.0/22: 44 of head, or 44 of door, or 8 of work" in problem.message
    assert str(problem).startswith('overrides.AutoScaling: {"Mode": "Enable"}: ')
    draft.set("overrides", "AutoScaling", {"Mode": "Disable"})
    assert "subnet-capacity-autoscaling" not in [each.rule for each in draft.problems()]


@pytest.mark.parametrize("odd", [3, "x", [], [3], {"InstanceTypes": 3}, {"InstanceTypes": [3]}, None])
@pytest.mark.parametrize(
    "path",
    [
        ("overrides", "VpcConfig"),
        ("overrides", "Orchestrator"),
        ("overrides", "AutoScaling"),
        ("overrides", "RestrictedInstanceGroups"),
        ("instance_groups", 2, "overrides", "InstanceType"),
        ("instance_groups", 2, "overrides", "InstanceRequirements"),
        ("instance_groups", 2, "overrides", "OverrideVpcConfig"),
        ("instance_groups", 2, "overrides", "NetworkInterface"),
    ],
)
def test_odd_values_of_overrides_are_problems_and_no_tracebacks(draft: Any, path: tuple[Any, ...], odd: object) -> None:
    assert all(problem.fix for problem in draft.set(*path, odd).problems())


@pytest.mark.parametrize("nodes", range(1, 1500, 37))
def test_the_range_that_is_named_fits_and_half_of_it_does_not(draft: Any, nodes: int) -> None:
    draft.set("network", "node_cidr", "10.1.0.0/28").set("instance_groups", 2, "instance_count", nodes)
    [line] = lines(draft)
    named = IPv4Network(line.rpartition("e.g. ")[2])
    needed = 1 + 1 + nodes * 32 + 1
    assert named.num_addresses - 5 >= needed > named.num_addresses // 2 - 5
    assert draft.set("network", "node_cidr", str(named)).problems() == []
