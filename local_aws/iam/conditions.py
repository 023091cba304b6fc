"""The evaluation of a statement's Condition, as on AWS; unknown operators and keys raise an error, and so never grant access."""

import ipaddress
from collections.abc import Callable
from datetime import datetime
from typing import TypeAlias

from local_aws.iam.patterns import Context, UnresolvedVariableError, arn_matches, fill, matches

Test: TypeAlias = Callable[[str, str], bool]
Condition: TypeAlias = dict[str, dict[str, "str | list[str]"]]


class UnknownConditionError(ValueError):
    """An operator or condition key that is not supported."""


def _truth(expected: str, value: str) -> bool:
    return expected.lower() == value.lower()


def _in_network(expected: str, value: str) -> bool:
    return ipaddress.ip_address(value) in ipaddress.ip_network(expected, strict=False)


def _moment(text: str) -> float:
    return datetime.fromisoformat(text).timestamp() if "-" in text else float(text)


# Operator -> comparison of a value in the policy with a value of the request.
_TESTS: dict[str, Test] = {
    "StringEquals": lambda expected, value: expected == value,
    "StringEqualsIgnoreCase": lambda expected, value: expected.lower() == value.lower(),
    "StringLike": matches,
    "ArnEquals": arn_matches,  # AWS: ArnEquals and ArnLike behave identically
    "ArnLike": arn_matches,
    "Bool": _truth,
    "IpAddress": _in_network,
    "NumericEquals": lambda expected, value: float(value) == float(expected),
    "NumericLessThan": lambda expected, value: float(value) < float(expected),
    "NumericLessThanEquals": lambda expected, value: float(value) <= float(expected),
    "NumericGreaterThan": lambda expected, value: float(value) > float(expected),
    "NumericGreaterThanEquals": lambda expected, value: float(value) >= float(expected),
    "DateLessThan": lambda expected, value: _moment(value) < _moment(expected),
    "DateGreaterThan": lambda expected, value: _moment(value) > _moment(expected),
}
# Negated operator -> the one it negates. A missing key satisfies a negated operator.
_NEGATED = {
    "StringNotEquals": "StringEquals",
    "StringNotEqualsIgnoreCase": "StringEqualsIgnoreCase",
    "StringNotLike": "StringLike",
    "ArnNotEquals": "ArnEquals",
    "ArnNotLike": "ArnLike",
    "NotIpAddress": "IpAddress",
    "NumericNotEquals": "NumericEquals",
}
# Operators without wildcards in their values: a filled-in variable needs no escaping there.
_PLAIN = ("StringEquals", "StringEqualsIgnoreCase", "Bool", "IpAddress", "Numeric", "Date")

# The keys whose presence in a request is known here; all others (source addresses, organizations, ...) are unknown.
_KEYS = {
    *("aws:principalaccount", "aws:principalarn", "aws:principaltype", "aws:principalisawsservice", "aws:userid"),
    *("aws:sourceaccount", "aws:sourcearn", "aws:resourceaccount", "aws:securetransport", "aws:requestedregion"),
    *("aws:tagkeys", "aws:calledvia", "aws:viaawsservice", "iam:passedtoservice", "cloudwatch:namespace"),
    *("s3:prefix", "s3:delimiter", "s3:resourceaccount", "sts:externalid", "sts:rolesessionname"),
    *("sagemaker:vpcsubnets", "sagemaker:vpcsecuritygroupids", "sagemaker:instancetypes", "sagemaker:taggingaction"),
    "lambda:functionarn",
    *("ec2:createaction", "ec2:subnet", "ec2:vpc", "ec2:region", "ec2:availabilityzone", "ec2:authorizeduser"),
    *("ec2:authorizedservice", "ec2:permission", "ec2:vpceservicename"),
}
_KEY_PREFIXES = ("aws:requesttag/", "aws:resourcetag/", "ec2:resourcetag/", "sagemaker:resourcetag/")


def holds(condition: Condition, context: Context) -> bool:
    """Return whether the request's ``context`` satisfies every operator and key of ``condition``."""
    results = [
        _holds(operator, key, expected if isinstance(expected, list) else [expected], context)
        for operator, keys in condition.items()
        for key, expected in keys.items()
    ]  # evaluate all of them, to detect an unknown part even after a false one
    return all(results)


def _holds(operator: str, key: str, expected: list[str], context: Context) -> bool:
    quantifier, _, bare = operator.rpartition(":")
    name = bare.removesuffix("IfExists")
    base = _NEGATED.get(name, name)
    _check_known(operator, quantifier, base, key)
    values = context.get(key.lower(), ())
    if base == "Null":
        return all(_truth(text, str(not values)) for text in map(str, expected))
    if not values:
        if quantifier:
            return quantifier == "ForAllValues"
        return name in _NEGATED or bare.endswith("IfExists")
    try:
        filled = [_filled(base, str(text), context) for text in expected]
    except UnresolvedVariableError:
        return False
    hits = [any(_TESTS[base](text, value) for text in filled) != (name in _NEGATED) for value in values]
    return any(hits) if quantifier == "ForAnyValue" else all(hits)


def _check_known(operator: str, quantifier: str, base: str, key: str) -> None:
    if quantifier not in ("", "ForAnyValue", "ForAllValues") or (base not in _TESTS and base != "Null"):
        raise UnknownConditionError(f"condition operator {operator!r} is not evaluated by the embedded AWS")
    if key.lower() not in _KEYS and not key.lower().startswith(_KEY_PREFIXES):
        raise UnknownConditionError(f"condition key {key!r} is not evaluated by the embedded AWS")


def _filled(base: str, text: str, context: Context) -> str:
    filled = fill(text, context)
    return filled.replace("\\*", "*").replace("\\?", "?") if base.startswith(_PLAIN) else filled
