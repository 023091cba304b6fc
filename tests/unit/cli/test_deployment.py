"""What `hpod` says of a cluster that is not there."""

import json
from typing import Any

import pytest

from cli.deployment import Deployment, Stack
from cli.errors import CommandError
from cli.render import envelope
from cli.result import failed
from tests.unit.cli.fake_account import FakeAccount
from tests.unit.cli.test_retained import FILE, parsed


def test_a_rolled_back_cluster_is_reported_with_its_stack() -> None:
    account: Any = FakeAccount()
    account.stacks["draft-Cluster"] = {}
    with pytest.raises(CommandError) as error:
        Deployment(parsed(FILE), account).cluster()
    assert str(error.value) == (
        "cluster 'draft' is not deployed in us-west-2; stack draft-Cluster is CREATE_COMPLETE; run `cdk deploy 'draft/*'`"
    )


def test_the_reason_of_a_stack_is_in_the_message_and_not_in_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    stack = Stack("draft-Network", "ROLLBACK_COMPLETE", "Resource limit; VPCs: 5", {})
    monkeypatch.setattr(Deployment, "read_stacks", lambda _: [stack])
    account: Any = FakeAccount()
    with pytest.raises(CommandError) as error:
        Deployment(parsed(FILE), account).cluster()
    assert json.loads(envelope("status", failed(error.value)))["problems"] == [
        {
            "level": "error",
            "message": "cluster 'draft' is not deployed in us-west-2; stack draft-Network is ROLLBACK_COMPLETE: "
            "Resource limit; VPCs: 5",
            "fix": "run `cdk deploy 'draft/*'`",
        }
    ]
