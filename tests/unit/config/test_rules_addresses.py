from typing import Any

import pytest

from tests.faults_table.recording import happened
from tests.unit.config.test_rules_network import EXISTING


def lines(draft: Any) -> list[str]:
    found: list[str] = draft.lines()
    for line in found:
        happened(line)
    return found


@pytest.mark.fault(54)
def test_a_range_with_too_few_addresses_is_refused_with_the_sum_and_one_that_is_large_enough(draft: Any) -> None:
    draft.set("network", "node_cidr", "10.1.0.0/25")
    assert lines(draft) == [
        'network.node_cidr: "10.1.0.0/25": has 123 addresses, and at least 131 are needed '
        "(head 1, door 1, work 128, the file system 1 or more); use a range of /24 or larger, e.g. 10.1.0.0/24"
    ]


@pytest.mark.fault(54)
def test_the_last_node_that_fits_is_let_through_and_the_next_is_not(draft: Any) -> None:
    draft.remove("storage")
    draft.set("network", "node_cidr", "10.1.0.0/28").set("instance_groups", 2, "instance_type", "ml.g5.xlarge")
    draft.set("instance_groups", 2, "instance_count", 9)  # of 11, two are the controller's and the login node's
    assert not lines(draft)
    draft.set("instance_groups", 2, "instance_count", 10)
    assert "has 11 addresses, and at least 12 are needed" in lines(draft)[0]
    assert "use a range of /27" in lines(draft)[0]


@pytest.mark.fault(54)
def test_more_nodes_than_any_subnet_takes_are_told_to_go_to_several(draft: Any) -> None:
    draft.set("instance_groups", 2, "instance_count", 3000)
    assert lines(draft)[0].endswith("lower instance_count, or give groups subnets of their own in `overrides.OverrideVpcConfig`")


@pytest.mark.parametrize("place", ["existing", "override"])
def test_subnets_that_are_not_in_the_file_are_not_counted(draft: Any, place: str) -> None:
    draft.set("network", "node_cidr", "10.1.0.0/28")
    if place == "existing":
        draft.set("network", "existing", EXISTING)
    else:
        elsewhere = {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0123456789abcdef0"]}
        draft.set("instance_groups", 2, "overrides", "OverrideVpcConfig", elsewhere)
    assert not lines(draft)


def test_of_several_types_the_smallest_is_counted(draft: Any) -> None:
    draft.set("network", "node_cidr", "10.1.0.0/27")
    types = {"InstanceTypes": ["ml.p5.48xlarge", "ml.g5.8xlarge"]}
    draft.set("instance_groups", 2, "overrides", "InstanceRequirements", types)
    draft.set("instance_groups", 2, "instance_type", "ml.g5.8xlarge")
    assert not lines(draft)
