"""Templates read, and the order that follows from them."""

import threading

import pytest

from local_aws.cloudformation.errors import TemplateError
from local_aws.cloudformation.graph import dependencies, order, references, reverse
from local_aws.cloudformation.parallel import walk
from local_aws.cloudformation.template import parse

YAML = """
Resources:
  A:
    Type: AWS::SSM::Parameter
    Properties:
      Value: !Sub "${B}-${AWS::Region}"
      Name: !GetAtt B.Name
      Description: !Join ["", [!Ref C, 2026-01-01]]
"""


def test_yaml_is_read_with_its_short_forms() -> None:
    properties = parse(YAML)["Resources"]["A"]["Properties"]

    assert properties["Value"] == {"Fn::Sub": "${B}-${AWS::Region}"}
    assert properties["Name"] == {"Fn::GetAtt": ["B", "Name"]}
    assert properties["Description"] == {"Fn::Join": ["", [{"Ref": "C"}, "2026-01-01"]]}
    assert references(properties) == {"B", "C", "AWS::Region"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("[]", "unsupported structure"),
        ("a: [", "YAML not well-formed"),
        ("{}", "At least one Resources member must be defined"),
        ('{"Transform": "x", "Resources": {}}', "not part of the embedded AWS: Transform"),
        ('{"Resource": {}}', r"Invalid template property or properties \[Resource\]"),
        ('{"Resources": {"A-b": {"Type": "T"}}}', "A-b is non alphanumeric"),
        ('{"Resources": {"A": {}}}', "must contain a Type member"),
        ('{"Resources": {"A": {"Type": "T", "UpdatePolicy": {}}}}', "attribute UpdatePolicy"),
        ('{"Resources": {"A": {"Type": "T", "DeletionPolicy": "Snapshot"}}}', "DeletionPolicy Snapshot"),
    ],
)
def test_a_template_of_the_wrong_form_is_refused(body: str, message: str) -> None:
    with pytest.raises(TemplateError, match=message):
        parse(body)


def test_what_is_referred_to_comes_first() -> None:
    graph = dependencies({"A": {"DependsOn": "B"}, "B": {"Properties": {"x": {"Ref": "C"}}}, "C": {}, "D": {"DependsOn": ["A"]}})

    assert graph == {"A": {"B"}, "B": {"C"}, "C": set(), "D": {"A"}}
    assert order(graph) == ["C", "B", "A", "D"]
    assert reverse(graph) == {"A": {"D"}, "B": {"A"}, "C": {"B"}, "D": set()}


def test_a_circle_is_refused() -> None:
    with pytest.raises(TemplateError, match=r"Circular dependency between resources: \[A, B\]"):
        order({"A": {"B"}, "B": {"A"}})


def test_independent_nodes_are_worked_on_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=10)

    def work(_: str) -> None:
        both.wait()

    outcome = walk({"A": set(), "B": set()}, work, threading.Event())

    assert (outcome.failed, outcome.skipped) == ({}, set())


def test_a_failure_stops_what_has_not_begun() -> None:
    done = []

    def work(name: str) -> None:
        done.append(name)
        if name == "A":
            raise ValueError(name)

    halt = threading.Event()
    outcome = walk({"A": set(), "B": {"A"}, "C": {"B"}}, work, halt)

    assert (done, list(outcome.failed), outcome.skipped, halt.is_set()) == (["A"], ["A"], {"B", "C"}, True)


def test_a_failure_may_hold_up_only_what_needs_it() -> None:
    done = []

    def work(name: str) -> None:
        done.append(name)
        if name == "A":
            raise ValueError(name)

    outcome = walk({"A": set(), "B": {"A"}, "C": set(), "D": {"C"}}, work, threading.Event(), keep_going=True)

    assert (sorted(done), list(outcome.failed), outcome.skipped) == (["A", "C", "D"], ["A"], {"B"})
