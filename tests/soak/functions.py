"""The real entry, step and responder code between models of Lambda, Step Functions and EventBridge, on one timeline."""

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from cluster_resource import entry, responder, response
from cluster_resource.event import Event, execution_name
from cluster_resource.executions import Executions
from tests.soak.boundary import Invocation
from tests.soak.cloudformation import CloudFormation, Request
from tests.soak.control_plane import Client
from tests.soak.faults import Faults
from tests.soak.invariants import check_id
from tests.soak.lambda_model import LambdaModel, Target
from tests.soak.states_model import StatesModel, Task
from tests.soak.timeline import Timeline
from tests.unit.cluster_resource.fake_states import MACHINE
from tests.unit.cluster_resource.manual_clock import ManualClock

Json = dict[str, Any]
LARGEST_BODY = 4096
NEWER_MEMORY = {"version": 2, "novelty": {"since": "2"}}


class FunctionsWorld(ABC):
    """Everything around the functions, except the services that a step calls."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.timeline = Timeline(self.clock)
        self.faults = Faults()
        self.states = StatesModel(self.timeline, self._run_task, self._notice)
        self.lambdas = LambdaModel(self.timeline)
        self.cloudformation = self._stack()
        self.deliveries: deque[Sequence[float]] = deque()
        self.notices: deque[Sequence[float]] = deque()
        self.destinations: deque[Sequence[float]] = deque()
        self.latest_record_s = 0.0
        self.violations: list[str] = []
        self.is_newer_release = False
        self.began = self.clock.now
        self._responder = Target(self._run_responder, (60, 120))
        self._entry = Target(self._run_entry, (25, 30), 60, self._hand_on)

    def _stack(self) -> CloudFormation:
        return CloudFormation(self.timeline, self._deliver)

    @abstractmethod
    def _handle(self, payload: Json, invocation: Invocation) -> Json:
        """Run the step function."""

    @abstractmethod
    def _check_answer(self, request: Request, body: Json) -> list[str]:
        """Return the violations of a response."""

    # Deliveries

    def _deliver(self, raw: Json) -> None:
        self.lambdas.send(self._entry, raw, self.deliveries.popleft() if self.deliveries else (0,))

    def _notice(self, event: Json) -> None:
        self.lambdas.send(self._responder, event, self.notices.popleft() if self.notices else (1,))

    def _hand_on(self, record: Json) -> None:
        self.lambdas.send(self._responder, record, self.destinations.popleft() if self.destinations else (1,))

    # The functions

    def _run_entry(self, raw: Json, fail: Callable[[Exception], None]) -> None:
        def work(invocation: Invocation) -> None:
            entry.launch(raw, self._executions(invocation))

        self._start("entry", str(raw["RequestId"]), work, lambda _: None, fail)

    def _run_responder(self, raw: Json, fail: Callable[[Exception], None]) -> None:
        def work(invocation: Invocation) -> None:
            responder.respond(raw, self._executions(invocation), self._sender(invocation))

        self._start("responder", "", work, lambda _: None, fail)

    def _run_task(self, task: Task) -> None:
        request_id = str(task.payload["event"]["RequestId"])

        def work(invocation: Invocation) -> Json:
            return self._handle(task.payload, invocation)

        def store(result: Json) -> None:
            stored: Json = json.loads(json.dumps(result))
            if self.is_newer_release and stored.get("memory"):
                stored["memory"].update(NEWER_MEMORY)
            task.on_result(stored)

        self._start("step", request_id, work, store, task.on_error)

    def _start(
        self,
        function: str,
        request_id: str,
        work: Callable[[Invocation], Any],
        on_result: Callable[[Any], None],
        on_error: Callable[[Exception], None],
    ) -> None:
        Invocation(self.timeline, self.faults, function, request_id, work, on_result, on_error).start()

    def _executions(self, invocation: Invocation) -> Executions:
        def serve(method: str, request: Json) -> Any:
            return getattr(self.states, method)(**request)

        return Executions(Client(invocation, self.states, serve), MACHINE)

    def _sender(self, invocation: Invocation) -> response.Send:
        def put(_url: str, content: bytes) -> int:
            request_id = str(json.loads(content)["RequestId"])
            try:
                invocation.call("PUT", lambda: self._answered(request_id, content))
            except ClientError:
                return 503
            except BotoCoreError as error:
                raise TimeoutError from error
            return 200

        def send(event: Event, verdict: Json) -> None:
            response.send(event, verdict, put=put, sleep=lambda _: None)

        return send

    def _answered(self, request_id: str, content: bytes) -> None:
        if len(content) > LARGEST_BODY:
            self.violations.append(f"size: an answer of {len(content)} bytes to {request_id}")
        body = json.loads(content)
        request = self.cloudformation.requests[request_id]
        self.violations += check_id(request, body)
        self.violations += self._check_answer(request, body)
        self.cloudformation.answer(request_id, body)

    # For the invariants

    def has_execution(self, request: Request) -> bool:
        """Return whether the request has an execution."""
        return execution_name(Event.parse(request.raw)) in self.states.executions

    @property
    def is_at_rest(self) -> bool:
        """Return whether no request is open and nothing runs."""
        stack = self.cloudformation
        is_open = stack.current is not None and stack.phase != "UPDATE_ROLLBACK_FAILED"
        return not is_open and not self.states.is_running and not self.lambdas.is_busy
