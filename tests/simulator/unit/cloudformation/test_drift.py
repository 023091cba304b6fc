"""Drift counts only what the template sets, and not the form in which a service shows a value."""

import pytest

from local_aws.cloudformation.live import compared, differences


def paths(expected: object, actual: object) -> list[tuple[str, str]]:
    return [(each["PropertyPath"], each["DifferenceType"]) for each in differences(expected, actual)]


def test_properties_that_the_template_leaves_out_or_that_cannot_be_read_do_not_count() -> None:
    assert compared({"A": 1, "B": 2}, {"A": 1, "C": 3}) == ({"A": 1}, {"A": 1})


@pytest.mark.parametrize(
    ("expected", "actual"),
    [({"A": "7"}, {"A": 7}), ({"A": True}, {"A": "true"}), ({"A": [1, 2]}, {"A": [2, 1]}), ({"A": ""}, {"A": None}), ({}, {})],
)
def test_values_in_another_form_are_the_same(expected: object, actual: object) -> None:
    assert paths(expected, actual) == []


def test_a_difference_has_the_path_of_the_property_and_its_kind() -> None:
    expected = {"A": {"B": "x", "D": "z"}, "L": [1]}
    actual = {"A": {"B": "y", "C": "new"}, "L": [1, 2]}
    assert paths(expected, actual) == [
        ("/A/B", "NOT_EQUAL"),
        ("/A/C", "ADD"),
        ("/A/D", "REMOVE"),
        ("/L", "NOT_EQUAL"),
    ]
