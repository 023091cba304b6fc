"""Properties of custom resources, as templates have them and as functions read them after CloudFormation."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cluster_request.property_values import named_properties, property_value
from cluster_resource.property_values import typed
from local_aws.cloudformation.resources.custom import stringify

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
LIKE_JSON = st.sampled_from(["1", "true", "null", "0644", '"1"', "{}", "[", "NaN", " 2 ", "1e999", "v1.10", ""])
KEYS = st.sampled_from(["Ref", "Fn::Sub", "a.b/c", "1"]) | st.text(max_size=4)
values = st.recursive(
    st.none() | st.booleans() | NUMBERS | LIKE_JSON | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
QUICK = settings(max_examples=100, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a value."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects_in(item)


@QUICK
@given(values)
def test_a_value_keeps_its_types_on_its_way_through_cloudformation(value: Any) -> None:
    sent = property_value(value)
    assert repr(typed(stringify(sent))) == repr(value)
    assert sent == stringify(sent)


@QUICK
@given(values)
def test_no_part_is_a_function_of_cloudformation_or_empty(value: Any) -> None:
    for each in objects_in(property_value(value)):
        assert each
        assert not [name for name in each if name == "Ref" or name.startswith("Fn::")]


def test_the_value_of_a_token_is_text_whatever_it_is() -> None:
    token = "${Token[TOKEN.7]}"
    assert typed(property_value(token).replace(token, "12345678")) == "12345678"
    assert property_value({token: 1}) == f'{{"{token}": 1}}'


@pytest.mark.parametrize(
    ("name", "expected"), [("DaemonSet kube-system/efa", "XDaemonSetKubeSystemEfa"), ("a ${Token[T.1]}-b", "XAB"), ("7", "X7")]
)
def test_names_of_properties_have_only_letters_and_digits(name: str, expected: str) -> None:
    assert list(named_properties("X", [(name, {"a": 1})])) == [expected]


def test_names_of_properties_are_unique() -> None:
    found = named_properties("X", [("a-1", {"n": 1}), ("a1x2", {"n": 2}), ("a1", {"n": 3}), ("a.1", {"n": 4})])
    assert found == {"XA1": {"n": "1"}, "XA1x2": {"n": "2"}, "XA1x3": {"n": "3"}, "XA1x4": {"n": "4"}}
