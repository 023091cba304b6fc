"""A world around a resource type whose steps make many calls, and a sweep of crashes over them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from tests.unit.cluster_resource.fake_states import FunctionDied
from tests.unit.cluster_resource.world import World

Json = dict[str, Any]
MOMENTS = ("before", "after")


class Service(Protocol):
    """The service that a resource type calls. ``before`` and ``after`` hold what a call raises, by its number."""

    calls: list[Any]
    before: dict[int, Any]
    after: dict[int, Any]


class CallsWorld(World, ABC):
    """The functions with a resource type; tests limit the time that a step has."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: Callable[[], float] = lambda: 59.0

    @property
    @abstractmethod
    def service(self) -> Service:
        """Return the service that the steps call."""

    @abstractmethod
    def request(self, kind: str, items: list[Json], old: list[Json] | None = None, **more: Any) -> Json:
        """Return an event of CloudFormation."""

    def do(self, kind: str, items: list[Json], old: list[Json] | None = None, **more: Any) -> Json:
        """Deliver a request and return its response."""
        self.clock.advance(300)
        return self.finish(self.request(kind, items, old, **more))


W = TypeVar("W", bound=CallsWorld)
Prepare = Callable[[], tuple[W, Json]]
"""Return a world and the arguments of the request to send."""
Check = Callable[[W, Json], None]
"""Check the state after a request."""


def crash_at_each_call(prepare: Prepare[W], moment: str, check: Check[W]) -> None:
    """Let the function die once at each call in turn; the request converges."""
    for index in range(_calls_of(prepare)):
        world, request = prepare()
        getattr(world.service, moment)[len(world.service.calls) + index] = FunctionDied(f"{moment} call {index}")
        done = world.do(**request)
        assert done["Status"] == "SUCCESS", (index, done)
        check(world, request)


def die_from_each_call(prepare: Prepare[W], moment: str, check: Check[W], opposites: dict[str, Json], every: int) -> None:
    """Let the function die from a call on, until the request has failed; CloudFormation then sends the opposite request."""
    for index in range(0, _calls_of(prepare), every):
        world, request = prepare()
        start = len(world.service.calls) + index
        faults = getattr(world.service, moment)
        faults.update({number: FunctionDied(f"{moment} call {index}") for number in range(start, start + 500)})
        assert world.do(**request)["Status"] == "FAILED"
        faults.clear()
        opposite = opposites[request["kind"]]
        done = world.do(**opposite)
        assert done["Status"] == "SUCCESS", (index, done)
        check(world, opposite)


def _calls_of(prepare: Prepare[W]) -> int:
    world, request = prepare()
    before = len(world.service.calls)
    world.do(**request)
    return len(world.service.calls) - before


def minutes(world: CallsWorld) -> float:
    """Return how long the last execution has run."""
    executions = list(world.states.executions.values())
    return (world.clock.now - executions[-1].started).total_seconds() / 60
