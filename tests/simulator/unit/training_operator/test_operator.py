"""The simulated operator before the API server."""

from dataclasses import dataclass
from typing import Any

from local_aws.training_operator.operator import SimulatedOperator


@dataclass(frozen=True)
class Answer:
    """What a client returns."""

    status: int
    content: Any


class NotYetServed:
    """An API server that has just accepted a definition, and does not serve the kind yet."""

    def call(self, method: str, *_: object) -> Answer:
        return Answer(201, {}) if method == "POST" else Answer(404, "404 page not found\n")


def test_a_kind_that_is_not_served_yet_has_no_jobs() -> None:
    SimulatedOperator(NotYetServed(), lambda: True).turn()
