import pytest

from local_aws.iam.conditions import Condition, UnknownConditionError, holds

CONTEXT = {
    "aws:principalarn": ("arn:aws:iam::123456789012:role/step",),
    "aws:principalaccount": ("123456789012",),
    "aws:securetransport": ("true",),
    "aws:resourceaccount": ("123456789012",),
    "aws:tagkeys": ("owner", "stack"),
    "aws:requesttag/stack": ("one",),
    "s3:prefix": ("a/b",),
    "ec2:region": ("7",),
}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"StringEquals": {"aws:RequestTag/stack": "one"}}, True),
        ({"StringEquals": {"aws:RequestTag/stack": "ONE"}}, False),
        ({"StringEquals": {"aws:RequestTag/stack": "o*"}}, False),
        ({"StringEqualsIgnoreCase": {"aws:RequestTag/stack": "ONE"}}, True),
        ({"StringNotEquals": {"aws:RequestTag/stack": ["one", "two"]}}, False),
        ({"StringEqualsIfExists": {"aws:RequestTag/stack": "two"}}, False),
        ({"StringLike": {"s3:prefix": ["a/*"]}}, True),
        ({"StringLike": {"s3:prefix": "a/?"}}, True),
        ({"StringNotLike": {"s3:prefix": "a/*"}}, False),
        ({"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/st*"}}, True),
        ({"ArnEquals": {"aws:PrincipalArn": "arn:aws:iam::*:role/st*"}}, True),
        ({"ArnLike": {"aws:PrincipalArn": "arn:aws:iam:*"}}, False),
        ({"ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::*:role/other"}}, True),
        ({"Bool": {"aws:SecureTransport": "TRUE"}}, True),
        ({"Bool": {"aws:SecureTransport": "false"}}, False),
        ({"Null": {"aws:RequestTag/stack": "true"}}, False),
        ({"Null": {"aws:RequestTag/stack": "false"}}, True),
        ({"NumericLessThan": {"ec2:Region": "8"}}, True),
        ({"NumericGreaterThanEquals": {"ec2:Region": "7"}}, True),
        ({"NumericNotEquals": {"ec2:Region": "7"}}, False),
        ({"ForAllValues:StringEquals": {"aws:TagKeys": ["owner", "stack", "more"]}}, True),
        ({"ForAllValues:StringEquals": {"aws:TagKeys": ["owner"]}}, False),
        ({"ForAnyValue:StringEquals": {"aws:TagKeys": ["owner"]}}, True),
        ({"ForAnyValue:StringEquals": {"s3:delimiter": ["x"]}}, False),
        ({"ForAllValues:StringEquals": {"s3:delimiter": ["x"]}}, True),
        ({"StringEquals": {"aws:ResourceAccount": "${aws:PrincipalAccount}"}}, True),
        ({"StringEquals": {"aws:ResourceAccount": "${aws:SourceAccount}"}}, False),
        ({"StringEquals": {"aws:ResourceAccount": "${aws:SourceAccount, '123456789012'}"}}, True),
        ({"StringEquals": {"aws:RequestTag/stack": "one"}, "Bool": {"aws:SecureTransport": "false"}}, False),
        ({"StringEquals": {"aws:RequestTag/stack": "one", "s3:prefix": "a/b"}}, True),
    ],
)
def test_a_condition_holds_as_on_aws(condition: Condition, expected: bool) -> None:
    assert holds(condition, CONTEXT) is expected


@pytest.mark.parametrize(
    "condition",
    [
        {"StringEqual": {"aws:PrincipalArn": "x"}},
        {"BinaryEquals": {"aws:PrincipalArn": "x"}},
        {"EveryValue:StringEquals": {"aws:TagKeys": "x"}},
        {"StringEquals": {"aws:PrincipalOrgID": "x"}},
        {"Bool": {"aws:SecureTransport": "false"}, "StringEquals": {"aws:SourceVpce": "x"}},
    ],
)
def test_an_operator_or_key_that_is_not_evaluated_is_said_to_be_unknown(condition: Condition) -> None:
    with pytest.raises(UnknownConditionError):
        holds(condition, CONTEXT)


def test_a_value_filled_into_a_pattern_is_not_wild_itself() -> None:
    context = {"aws:requesttag/stack": ("*",), "s3:prefix": ("anything",)}
    assert not holds({"StringLike": {"s3:prefix": "${aws:RequestTag/stack}"}}, context)
