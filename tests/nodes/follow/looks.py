"""What the commands show of a cluster whose nodes follow a pointer."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cli.deployment import Deployment
from cli.drift.command import drift
from cli.render import envelope
from config.model import ClusterConfig
from tests.nodes.cluster.operated import FILE, STACK, data_of
from tests.nodes.follow.following import Following
from tests.nodes.follow.monitored import Session
from tests.simulator.hyperpod.world import until
from validation.load import parse_cluster


@contextmanager
def named(cluster: Following) -> Iterator[Deployment]:
    """Yield the deployment of a file for the cluster, with a stack that outputs its name until the end of the block."""
    config = parse_cluster(FILE.encode(), "ml")
    assert isinstance(config, ClusterConfig), config
    cloudformation = cluster.world.client("cloudformation")
    cloudformation.create_stack(StackName="ml-Cluster", TemplateBody=json.dumps(STACK))
    session: Any = Session(cluster.world)
    deployment = Deployment(config, session)
    until(deployment.outputs, bool)
    yield deployment
    cloudformation.delete_stack(StackName="ml-Cluster")
    until(deployment.read_stacks, lambda stacks: not stacks)


def bundles_in_drift(deployment: Deployment) -> dict[str, tuple[str, str | None]]:
    """The bundles of the file and of each node that has another one, by instance id."""
    data = data_of("drift", envelope("drift", drift(deployment)))
    found = [each for each in data["differences"] if each["field"] == "script bundle"]
    return {each["place"].split()[1]: (each["desired"], each["observed"]) for each in found}


def between_looks(*changes: Callable[[], object]) -> Callable[[float], None]:
    """A sleep that makes one change at a time, and then presses Ctrl-C."""
    left = iter(changes)

    def sleep(_: float) -> None:
        change = next(left, None)
        if change is None:
            raise KeyboardInterrupt
        change()

    return sleep
