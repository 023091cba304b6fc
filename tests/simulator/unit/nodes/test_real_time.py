"""AWS's time waits for the agents of nodes."""

import json
import time
from collections.abc import Iterator

import pytest
from moto.logs.models import logs_backends
from moto.ssm.models import ssm_backends

from local_aws.clock import clock
from local_aws.nodes.agent import real_time
from tests.simulator.hyperpod.world import until

ACCOUNT, REGION, GROUP = "555555555555", "us-west-2", "/hyperpod-cdk/ml/nodes"
NODES = [
    {"id": "i-1", "group": "controller", "role": "controller"},
    {"id": "i-2", "group": "workers", "role": "compute"},
    {"id": "i-3", "group": "old", "role": "controller"},  # has no agent
]


@pytest.fixture(autouse=True)
def account() -> Iterator[None]:
    """Two nodes with an agent, and a fast clock."""
    before = clock.speed
    clock.set_speed(300.0)
    logs = logs_backends[ACCOUNT][REGION]
    logs.create_log_group(GROUP, {})
    for node in NODES[:2]:
        logs.create_log_stream(GROUP, f"{node['group']}/{node['id']}")
    with real_time.while_nodes_follow(lambda: NODES):
        yield
    ssm_backends[ACCOUNT][REGION].reset()
    logs.reset()
    until(lambda: clock.pace, lambda pace: pace == 300.0)
    clock.set_speed(before)


def put(name: str, value: str) -> None:
    ssm_backends[ACCOUNT][REGION].put_parameter(name, "", value, "String", "", "", True, [], "text", None, None)


def point(generation: int, percent: int, *roles: str) -> None:
    reach = {"roles": roles, "compute_percent": percent}
    put("/hyperpod-cdk/ml/bundle", json.dumps({"generation": generation, "sha256": "new", "reach": reach}))


def report(stream: str, generation: int, sha256: str = "old") -> None:
    record = {"record": "bundle", "generation": generation, "sha256": sha256}
    event = {"timestamp": int(time.time() * 1000), "message": json.dumps(record)}
    logs_backends[ACCOUNT][REGION].put_log_events(GROUP, stream, [event])


def is_slow() -> bool:
    return clock.pace == 1.0


def test_time_is_slow_until_each_reached_node_has_reported() -> None:
    point(7, 100, "controller")
    until(is_slow, bool)
    report("controller/i-1", 7)
    report("workers/i-2", 6)
    time.sleep(0.5)
    assert is_slow()
    report("workers/i-2", 8)
    until(is_slow, lambda slow: not slow)


def test_nodes_that_the_pointer_does_not_reach_are_not_waited_for() -> None:
    point(7, 0, "controller")
    until(is_slow, bool)
    report("controller/i-1", 7)
    until(is_slow, lambda slow: not slow)


def test_a_controller_that_the_pointer_names_is_waited_for() -> None:
    reach = {"roles": [], "compute_percent": 0, "instances": ["i-1"]}
    put("/hyperpod-cdk/ml/bundle", json.dumps({"generation": 7, "sha256": "new", "reach": reach}))
    until(is_slow, bool)
    report("controller/i-1", 7)
    until(is_slow, lambda slow: not slow)


def test_nodes_that_run_the_bundle_are_not_waited_for() -> None:
    report("controller/i-1", 6, "new")
    report("workers/i-2", 6, "new")
    point(7, 100, "controller")
    time.sleep(0.1)
    assert not is_slow()


@pytest.mark.parametrize(
    ("name", "value"), [("/hyperpod-cdk/ml/bundle", "text"), ("/hyperpod-cdk/ml/bundle", "{}"), ("/other", '{"generation": 1}')]
)
def test_other_parameters_and_other_text_change_nothing(name: str, value: str) -> None:
    put(name, value)
    time.sleep(0.1)
    assert not is_slow()
