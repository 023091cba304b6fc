import json

import pytest

from local_aws.metrics.patterns import PatternError, matcher

LINE = {
    "message": "answered",
    "status": "FAILED",
    "code": 403,
    "who": {"name": "step[1]"},
    "alarm": None,
    "disks": [{"free-percent": 4.5}],
}


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ('{ $.message = "answered" }', True),
        ('{ $.message = "answered" && $.status = "SUCCESS" }', False),
        ('{ $.message = "x" || $.status = "FAILED" && $.code = 403 }', True),
        ('{ ($.message = "x" || $.status = "FAILED") && $.code > 403 }', False),
        ('{ $.status != "SUCCESS" }', True),
        ('{ $.who.name = "step*" }', True),
        ('{ $.who.name = "step[1]" }', True),
        ('{ $.who.name = "step1" }', False),
        ('{ $.alarm = "*" }', False),
        ('{ $.nothing != "x" }', False),
        ("{ $.message = 403 }", False),
        ("{$.code>=400}", True),
        ("{ $.disks[0].free-percent < 5 }", True),
        ("{ $.disks[0].free-percent < 4 }", False),
        ("{ $.disks[1].free-percent < 5 }", False),
        ("{ $.code[0] < 5 }", False),
    ],
)
def test_a_line_matches_a_pattern_as_cloudwatch_logs_says(pattern: str, matches: bool) -> None:
    assert matcher(pattern)(json.dumps(LINE)) is matches


@pytest.mark.parametrize("line", ["START RequestId: 1", '"answered"', "", "[1]"])
def test_a_line_that_is_no_object_never_matches(line: str) -> None:
    assert not matcher('{ $.message != "x" }')(line)


@pytest.mark.parametrize(
    "pattern",
    ["ERROR", "[a, b]", '{ $.a = "x"', '{ $.a > "x" }', "{ $.a IS NULL }", '{ $.a = "x" } more', "", "{ a = 1 }", "{ $.a ! 1 }"],
)
def test_a_pattern_of_another_form_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError, match="use the JSON form"):
        matcher(pattern)
