"""`hpod logs` finds a node's log by every name of the node."""

from datetime import UTC, datetime

import pytest

from cli.errors import CommandError
from cli.logs import logs
from tests.unit.cli.commands import data_of
from tests.unit.cli.fake_operations import NOW, FakeOperations, ago

GROUP = "/aws/sagemaker/Clusters/draft-0123456789ab/abcdefghijkl"


@pytest.fixture
def account() -> FakeOperations:
    """Two nodes with logs, of which only the second runs an agent."""
    found = FakeOperations()
    for number in (2, 3):
        found.log(GROUP, f"LifecycleConfig/work/i-{number:017d}", ago(5), {"of": number})
    return found


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("i-00000000000000002", 2),
        ("work#1", 2),
        ("ip-10-1-0-2", 2),
        ("10.1.0.2", 2),
        ("work#2", 3),
        ("hyperpod-i-00000000000000003", 3),
    ],
)
def test_a_node_without_an_agent_is_found_by_the_names_that_the_api_knows(
    account: FakeOperations, name: str, number: int
) -> None:
    assert data_of(logs(account.deployment(), node=name))["lines"] == [f'{{"of": {number}}}']


def test_an_unknown_address_is_refused(account: FakeOperations) -> None:
    with pytest.raises(CommandError, match=r"no lifecycle log of node '10\.9\.9\.9'; available: work#1, work#2"):
        logs(account.deployment(), node="10.9.9.9")


def test_the_list_shows_names_that_find_the_same_node(account: FakeOperations) -> None:
    account.state("work", 3, minutes=(NOW - datetime.now(UTC)).total_seconds() / 60)
    listed = data_of(logs(account.deployment()))
    names = {each["node"]["instance_id"][-1]: each["name"] for each in listed["logs"]}
    with pytest.raises(CommandError, match="no lifecycle log of node 'work-9'; available: work#1, work-1, or an instance id"):
        logs(account.deployment(), node="work-9")
    assert names == {"2": "work#1", "3": "work-1"}  # HyperPod's work-1 wrote the group's second log
    for number, name in names.items():
        assert data_of(logs(account.deployment(), node=name))["lines"] == [f'{{"of": {number}}}']


def test_an_instance_id_an_address_and_the_list_need_no_right_on_the_reports(account: FakeOperations) -> None:
    account.refused = {"filter_log_events"}
    for name in ("i-00000000000000002", "10.1.0.2"):
        assert data_of(logs(account.deployment(), node=name))["lines"] == ['{"of": 2}']
    listed = logs(account.deployment())
    assert "work#1" in str(listed)
    assert "names of nodes: cannot run `logs`: An error occurred (AccessDeniedException)" in str(listed)


@pytest.mark.parametrize("name", ["i-00000000000000003", "work-1", "ip-10-1-0-3"])
def test_a_node_with_an_agent_has_all_its_names(account: FakeOperations, name: str) -> None:
    account.state("work", 3, minutes=(NOW - datetime.now(UTC)).total_seconds() / 60)
    assert data_of(logs(account.deployment(), node=name))["node"] == {
        "instance_id": "i-00000000000000003",
        "name": "work-1",
        "host": "ip-10-1-0-3",
        "group": "work",
    }


def test_a_node_without_an_agent_has_the_names_that_the_api_knows(account: FakeOperations) -> None:
    assert data_of(logs(account.deployment(), node="10.1.0.2"))["node"] == {
        "instance_id": "i-00000000000000002",
        "name": None,
        "host": "ip-10-1-0-2",
        "group": "work",
    }


def test_a_node_that_reports_the_name_of_another_is_not_found_by_it(account: FakeOperations) -> None:
    minutes = (NOW - datetime.now(UTC)).total_seconds() / 60
    account.state("work", 2, minutes=minutes, node="work-2")
    account.state("work", 3, minutes=minutes, node="work-2")
    with pytest.raises(CommandError, match="no lifecycle log of node 'work-2'"):
        logs(account.deployment(), node="work-2")
    assert data_of(logs(account.deployment(), node="work#1"))["lines"] == ['{"of": 2}']
