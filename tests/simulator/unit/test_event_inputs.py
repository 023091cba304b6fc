from typing import Any

import pytest

from local_aws.events.inputs import input_for

RULE = "arn:aws:events:us-west-2:123456789012:rule/ends"
EVENT: dict[str, Any] = {"id": "1", "time": "2026-11-21T09:00:00Z", "detail": {"status": "FAILED", "n": 3, "text": 'say "hi"'}}


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({}, EVENT),
        ({"Input": '{"constant": true}'}, {"constant": True}),
        ({"InputPath": "$.detail.status"}, "FAILED"),
        ({"InputPath": "$.nowhere"}, None),
        (
            {"InputTransformer": {"InputPathsMap": {"s": "$.detail.status"}, "InputTemplate": '"it is <s>"'}},
            "it is FAILED",
        ),
        (
            {
                "InputTransformer": {
                    "InputPathsMap": {"d": "$.detail", "n": "$.detail.n"},
                    "InputTemplate": '{"d": <d>, "n": "<n>"}',
                }
            },
            {"d": EVENT["detail"], "n": "3"},
        ),
        (
            {"InputTransformer": {"InputPathsMap": {"t": "$.detail.text"}, "InputTemplate": '["<t>", <t>]'}},
            ['say "hi"', 'say "hi"'],
        ),
        (
            {"InputTransformer": {"InputTemplate": '{"rule": <aws.events.rule-arn>, "all": <aws.events.event.json>}'}},
            {"rule": RULE, "all": EVENT},
        ),
    ],
)
def test_a_target_gets_what_its_rule_says(target: dict[str, Any], expected: Any) -> None:
    assert input_for(target, EVENT, RULE) == expected
