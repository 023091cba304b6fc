"""Broken connections and functions that sometimes die only cost time."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ConnectionClosedError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError

from tests.faults_table.recording import happened
from tests.unit.cluster_resource.world import World, properties

Json = dict[str, Any]
URL = "https://api.sagemaker.us-west-2.amazonaws.com"
METHODS = {
    "CreateCluster": "create_cluster",
    "DescribeCluster": "describe_cluster",
    "ListTags": "list_tags",
    "ListClusterNodes": "list_cluster_nodes",
}


class Failing:
    """The first ten calls fail; with ``is_done`` they are carried out all the same."""

    def __init__(self, whole: Callable[..., Json], error: Exception, *, is_done: bool) -> None:
        self._whole, self._error, self._is_done = whole, error, is_done
        self.left = 10

    def __call__(self, **arguments: Any) -> Json:
        if not self.left:
            return self._whole(**arguments)
        self.left -= 1
        happened(type(self._error).__name__)
        if self._is_done and self.left == 9:
            self._whole(**arguments)
        raise self._error


@pytest.mark.fault(6)
@pytest.mark.parametrize("operation", METHODS)
@pytest.mark.parametrize("kind", [ConnectionClosedError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError])
def test_ten_broken_connections_in_a_row_do_not_fail_a_request(
    world: World, monkeypatch: pytest.MonkeyPatch, operation: str, kind: type[Exception]
) -> None:
    method = METHODS[operation]
    is_done = kind in (ConnectionClosedError, ReadTimeoutError)
    failing = Failing(getattr(world.sagemaker, method), kind(endpoint_url=URL), is_done=is_done)  # type: ignore[call-arg]  # botocore's
    monkeypatch.setattr(world.sagemaker, method, failing)
    done = world.finish(world.event("Create", properties()))
    assert done["Status"] == "SUCCESS"
    # A creation whose reply was lost is taken over by its name: nobody asks ten times.
    assert not failing.left or (operation, is_done) == ("CreateCluster", True)
    assert len(world.sagemaker.all) == 1


@pytest.mark.fault(28)
def test_a_step_that_dies_sometimes_is_retried_and_the_request_continues(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, calls = world.states._invoke, iter(range(10_000))

    def dying(payload: Json) -> Json:
        if next(calls) % 3:
            happened("Sandbox.Timedout")
            raise TimeoutError("Task timed out after 60.00 seconds")
        return whole(payload)

    monkeypatch.setattr(world.states, "_invoke", dying)
    assert world.finish(world.event("Create", properties()))["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["CreateCluster"]
