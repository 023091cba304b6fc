"""Share the API server, the remaining time and pauses between the phases of a step. Runs in Lambda."""

from collections.abc import Callable
from typing import NamedTuple

from kubernetes_resource.client import TIMEOUT_S, KubernetesClient
from kubernetes_resource.discovery import Discovery
from kubernetes_resource.errors import PendingError
from kubernetes_resource.objects import Target

RESERVE_S = TIMEOUT_S + 5
"""A call begins only if the function has this long left, so that it does not time out in it."""


class Session(NamedTuple):
    """One step's access to the API server of the target."""

    target: Target
    client: KubernetesClient
    discovery: Discovery
    seconds_left: Callable[[], float]
    sleep: Callable[[float], None]

    def check_time(self) -> None:
        """Raise PendingError if no time is left for another call."""
        if not self.has_time:
            raise PendingError("the next step continues")

    @property
    def has_time(self) -> bool:
        """Return whether there is time for another call."""
        return self.seconds_left() >= RESERVE_S
