from typing import Any

import pytest

from local_aws.errors import AwsError
from local_aws.request_walker import check

GOOD: dict[str, Any] = {
    "ClusterName": "ml",
    "InstanceGroups": [
        {
            "InstanceGroupName": "a",
            "InstanceCount": 1,
            "InstanceType": "ml.c5.xlarge",
            "ExecutionRole": "arn:aws:iam::123456789012:role/nodes",
        }
    ],
}


def complaint(request: dict[str, Any], operation: str = "CreateCluster", service: str = "sagemaker") -> str:
    with pytest.raises(AwsError) as error:
        check(service, operation, request)
    return str(error.value.message)


def with_group(**change: object) -> dict[str, Any]:
    return {**GOOD, "InstanceGroups": [{**GOOD["InstanceGroups"][0], **change}]}


def test_a_good_request_passes() -> None:
    check("sagemaker", "CreateCluster", GOOD)


def test_all_mistakes_are_reported_at_once() -> None:
    text = complaint(with_group(InstanceCount=-1, ThreadsPerCore=3))
    assert text.startswith("2 validation errors detected: ")
    assert "'instanceGroups.1.member.instanceCount' failed to satisfy constraint: Member must have value greater" in text
    assert "'instanceGroups.1.member.threadsPerCore' failed to satisfy constraint: Member must have value less" in text


@pytest.mark.parametrize("value", [True, "1", 1.5, None])
def test_a_number_is_neither_a_string_nor_a_truth_nor_missing(value: object) -> None:
    assert "instanceCount" in complaint(with_group(InstanceCount=value))


def test_a_pattern_must_fit_the_whole_value() -> None:
    assert "regular expression pattern" in complaint({**GOOD, "ClusterName": "ml-"})


def test_a_field_that_is_null_counts_as_left_out_where_it_may_be() -> None:
    check("sagemaker", "CreateCluster", with_group(ThreadsPerCore=None))


def test_keys_and_values_of_maps_are_walked_too() -> None:
    text = complaint(with_group(KubernetesConfig={"Labels": {"a": 1}}))
    assert "'instanceGroups.1.member.kubernetesConfig.labels.a.value'" in text


def test_an_empty_structure_is_a_value() -> None:
    check("sagemaker", "CreateCluster", with_group(CapacityRequirements={"Spot": {}}))


def test_unknown_fields_are_reported_with_the_known_ones() -> None:
    text = complaint({"FileSystemIds": [], "Colour": "red"}, "DescribeFileSystems", "fsx")
    assert "Value 'red' at 'colour' failed to satisfy constraint: Member must be one of [FileSystemIds, MaxResults" in text
