"""Lambda's asynchronous invocation: at least once, late, retried after an error, and then to the on-failure destination."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.soak.timeline import Timeline

Json = dict[str, Any]
RETRIES = 2


@dataclass(frozen=True)
class Target:
    """A function that is invoked asynchronously; ``run`` gets a callback for its error."""

    run: Callable[[Json, Callable[[Exception], None]], None]
    pauses_s: tuple[float, float]
    """Before the first and the second retry."""
    largest_age_s: float = 6 * 3600
    on_failure: Callable[[Json], None] = lambda _: None


class LambdaModel:
    """Delivers events to functions."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._under_way = 0

    @property
    def is_busy(self) -> bool:
        """Return whether an event waits for delivery."""
        return self._under_way > 0

    def send(self, target: Target, payload: Json, delays_s: Sequence[float] = (0,)) -> None:
        """Deliver ``payload`` once for each of the delays."""
        sent = self._timeline.clock.now

        def attempt(number: int) -> None:
            self._under_way -= 1

            def fail(error: Exception) -> None:
                age = (self._timeline.clock.now - sent).total_seconds()
                pause = target.pauses_s[number] if number < RETRIES else 0
                if number == RETRIES or age + pause >= target.largest_age_s:
                    condition = "RetriesExhausted" if number == RETRIES else "EventAgeExceeded"
                    target.on_failure(_record(payload, error, condition, number + 1))
                else:
                    plan(pause, number + 1)

            if (self._timeline.clock.now - sent).total_seconds() > target.largest_age_s:
                target.on_failure(_record(payload, None, "EventAgeExceeded", number))
            else:
                target.run(payload, fail)

        def plan(pause: float, number: int) -> None:
            self._under_way += 1
            self._timeline.after(pause, lambda: attempt(number))

        for delay in delays_s:
            plan(delay, 0)


def _record(payload: Json, error: Exception | None, condition: str, attempts: int) -> Json:
    """Return the record for the on-failure destination."""
    said = {"responsePayload": {"errorType": type(error).__name__, "errorMessage": str(error)}} if error else {}
    context = {"condition": condition, "approximateInvokeCount": attempts}
    return {"version": "1.0", "requestContext": context, "requestPayload": payload, **said}
