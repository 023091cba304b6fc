"""What `hpod` says of a cluster that is not there."""

from typing import Any

import pytest

from cli.deployment import Deployment
from cli.errors import CommandError
from tests.unit.cli.fake_account import FakeAccount
from tests.unit.cli.test_retained import FILE, parsed


def test_a_cluster_that_was_rolled_back_is_told_by_its_stack() -> None:
    account: Any = FakeAccount()
    account.stacks["draft-Cluster"] = {}
    with pytest.raises(CommandError) as error:
        Deployment(parsed(FILE), account).cluster()
    assert str(error.value) == (
        "cluster 'draft' is not deployed in us-west-2; stack draft-Cluster is CREATE_COMPLETE; run `cdk deploy 'draft/*'`"
    )
