"""The resources whose schedules are drawn and run."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tests.soak import drawing_paths, run
from tests.soak.rollout import drawing as rollout_drawing
from tests.soak.rollout import run as rollout_run
from tests.soak.rollout.schedule import ROLLOUT_OPERATIONS
from tests.soak.schedule import OPERATIONS, Operation, Operations
from tests.soak.stack_run import Outcome

Finished = Callable[[list[Operation], Outcome], None]


class Subject(NamedTuple):
    """A custom resource."""

    draw: Callable[[int, int, Finished], None]
    run: Callable[[Iterable[Operation]], Outcome]
    operations: Operations
    part: float
    """How many schedules to draw for each one of a cluster."""


CLUSTER, ROLLOUT = "cluster", "rollout"
SUBJECTS = {
    CLUSTER: Subject(drawing_paths.draw, run.run, OPERATIONS, 1),
    ROLLOUT: Subject(rollout_drawing.draw, rollout_run.run, ROLLOUT_OPERATIONS, 0.2),
}
