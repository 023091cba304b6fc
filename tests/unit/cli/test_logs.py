"""`hpod logs` finds a node's log by every name of the node."""

import pytest

from cli.errors import OpsError
from cli.logs import logs
from tests.unit.cli.fake_operations import FakeOperations, ago

GROUP = "/aws/sagemaker/Clusters/draft-0123456789ab/abcdefghijkl"


@pytest.fixture
def account() -> FakeOperations:
    """Two nodes with logs, of which only the second runs an agent."""
    found = FakeOperations()
    for number in (2, 3):
        found.log(GROUP, f"LifecycleConfig/work/i-{number:017d}", ago(5), {"of": number})
    return found


@pytest.mark.parametrize(
    ("name", "number"), [("i-00000000000000002", 2), ("work-1", 2), ("ip-10-1-0-2", 2), ("10.1.0.2", 2), ("work-2", 3)]
)
def test_a_node_without_an_agent_is_found_by_the_names_that_the_api_knows(
    account: FakeOperations, name: str, number: int
) -> None:
    result = logs(account.deployment(), node=name)
    assert result.data
    assert result.data["lines"] == [f'{{"of": {number}}}']


def test_an_unknown_address_is_refused(account: FakeOperations) -> None:
    with pytest.raises(OpsError, match=r"no lifecycle log of node '10\.9\.9\.9'; available: work-1, work-2"):
        logs(account.deployment(), node="10.9.9.9")
