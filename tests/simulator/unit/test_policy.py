from typing import Any

import pytest

from local_aws.iam.policy import Attempt, Principal, Verdict, judge

ROLE = "arn:aws:iam::123456789012:role/step"


def attempt(action: str = "s3:GetObject", resource: str = "arn:aws:s3:::b/key", **context: str | tuple[str, ...]) -> Attempt:
    keys = {name.replace("_", ":", 1).lower(): (value,) if isinstance(value, str) else value for name, value in context.items()}
    return Attempt(Principal("123456789012", ROLE), action, resource, keys)


def allow(**parts: Any) -> dict[str, Any]:
    return {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*", **parts}


def deny(**parts: Any) -> dict[str, Any]:
    return {**allow(**parts), "Effect": "Deny"}


def test_nothing_is_allowed_that_no_statement_allows() -> None:
    assert judge([], attempt()) is Verdict.NOTHING
    assert judge([allow(Action="s3:PutObject")], attempt()) is Verdict.NOTHING
    assert judge([allow(Resource="arn:aws:s3:::other/*")], attempt()) is Verdict.NOTHING


def test_actions_are_compared_without_regard_to_case_and_resources_with_it() -> None:
    assert judge([allow(Action="S3:get*")], attempt()) is Verdict.ALLOW
    assert judge([allow(Resource="arn:aws:s3:::B/*")], attempt()) is Verdict.NOTHING


def test_notaction_covers_all_other_actions() -> None:
    statement = {"Effect": "Allow", "NotAction": ["s3:Put*"], "Resource": "*"}
    assert judge([statement], attempt("s3:GetObject")) is Verdict.ALLOW
    assert judge([statement], attempt("s3:PutObject")) is Verdict.NOTHING


def test_notresource_covers_all_other_resources() -> None:
    statement = {"Effect": "Deny", "Action": "*", "NotResource": "arn:aws:s3:::mine/*"}
    assert judge([statement], attempt(resource="arn:aws:s3:::mine/x")) is Verdict.NOTHING
    assert judge([statement], attempt(resource="arn:aws:s3:::theirs/x")) is Verdict.DENY


def test_an_action_without_a_resource_needs_a_statement_for_all_resources() -> None:
    assert (
        judge([allow(Action="ec2:*", Resource="arn:aws:ec2:*:*:subnet/*")], attempt("ec2:DescribeVpcs", "*")) is Verdict.NOTHING
    )
    assert judge([allow(Action="ec2:*")], attempt("ec2:DescribeVpcs", "*")) is Verdict.ALLOW


def test_a_condition_that_is_not_known_never_lets_anybody_in() -> None:
    unknown = {"StringEquals": {"aws:SourceIp": "10.0.0.1"}}
    assert judge([allow(Condition=unknown)], attempt()) is Verdict.NOTHING
    assert judge([allow(), deny(Condition=unknown)], attempt()) is Verdict.DENY
    assert judge([allow(Condition={"Sounds": {"aws:PrincipalArn": ROLE}})], attempt(aws_PrincipalArn=ROLE)) is Verdict.NOTHING


def test_a_policy_variable_in_a_resource_is_filled_from_the_request() -> None:
    statement = allow(Resource="arn:aws:s3:::b/${aws:PrincipalAccount}/*")
    mine = attempt(resource="arn:aws:s3:::b/123456789012/x", aws_PrincipalAccount="123456789012")
    assert judge([statement], mine) is Verdict.ALLOW
    assert judge([statement], attempt(resource="arn:aws:s3:::b/x/x")) is Verdict.NOTHING


@pytest.mark.parametrize(
    ("principal", "verdict"),
    [
        ("*", Verdict.ALLOW),
        ({"AWS": "*"}, Verdict.ALLOW),
        ({"AWS": [ROLE]}, Verdict.ALLOW),
        ({"AWS": "123456789012"}, Verdict.DELEGATE),
        ({"AWS": "arn:aws:iam::123456789012:root"}, Verdict.DELEGATE),
        ({"AWS": "arn:aws:iam::999999999999:root"}, Verdict.NOTHING),
        ({"AWS": "arn:aws:iam::123456789012:role/other"}, Verdict.NOTHING),
        ({"Service": "s3.amazonaws.com"}, Verdict.NOTHING),
    ],
)
def test_a_resources_policy_allows_whom_it_names(principal: Any, verdict: Verdict) -> None:
    assert judge([allow(Principal=principal)], attempt(), has_principal=True) is verdict


def test_a_service_is_named_as_a_service() -> None:
    asks = Attempt(Principal(service="events.amazonaws.com"), "lambda:InvokeFunction", "f", {})
    statement = {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": "f"}
    assert judge([{**statement, "Principal": {"Service": "events.amazonaws.com"}}], asks, has_principal=True) is Verdict.ALLOW
    assert judge([{**statement, "Principal": {"AWS": "123456789012"}}], asks, has_principal=True) is Verdict.NOTHING


def test_notprincipal_is_not_evaluated_so_that_it_can_only_deny() -> None:
    assert judge([allow(NotPrincipal={"AWS": "x"})], attempt(), has_principal=True) is Verdict.NOTHING
    assert judge([deny(NotPrincipal={"AWS": ROLE})], attempt(), has_principal=True) is Verdict.DENY
