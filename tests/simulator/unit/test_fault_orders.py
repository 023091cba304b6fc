import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from local_aws.fault_commands import order_of, shown
from local_aws.faults import Fault
from local_aws.faults.fault import CALL_KINDS, OWN_OPERATIONS
from local_aws.process import ProcessError

PAGE = (Path(__file__).parents[3] / "docs" / "internals" / "local-aws-faults.md").read_text()


@pytest.mark.parametrize("name", [field.name for field in fields(Fault)])
def test_every_field_of_a_fault_is_documented(name: str) -> None:
    assert re.search(rf"^\|[^|]*`{name}`", PAGE, re.MULTILINE)


@pytest.mark.parametrize("kind", CALL_KINDS)
def test_every_kind_is_documented(kind: str) -> None:
    assert f"\n| `{kind}` |" in PAGE


@pytest.mark.parametrize("operation", OWN_OPERATIONS)
def test_every_operation_that_is_no_call_is_documented_with_its_kinds(operation: str) -> None:
    kinds = ", ".join(f"`{kind}`" for kind in OWN_OPERATIONS[operation])
    assert f"\n| `{operation}` | {kinds} |" in PAGE


def test_a_command_line_stands_for_an_order_with_typed_values_and_is_shown_as_such() -> None:
    words = ["kind=delay", "times=2", "delay_s=1.5", "message=a=b"]
    order = order_of("s3:PutObject", words)
    assert order == {"operation": "s3:PutObject", "kind": "delay", "times": 2, "delay_s": 1.5, "message": "a=b"}
    assert shown(order) == "s3:PutObject kind=delay times=2 delay_s=1.5 message=a=b"


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("lose", "got 'lose'"),
        ("knid=lose", "kind, code"),
        ("times=often", "times must be a number, got 'often'"),
        ("operation=x", "got"),
    ],
)
def test_a_word_that_says_nothing_is_refused_with_what_can_be_said(word: str, words: str) -> None:
    with pytest.raises(ProcessError, match=re.escape(words)):
        order_of("s3:PutObject", [word])


def test_what_is_as_always_is_not_shown() -> None:
    order: dict[str, Any] = {"operation": "s3:PutObject", "kind": "refuse", "times": 1, "code": "SlowDown"}
    assert shown(order) == "s3:PutObject code=SlowDown"
