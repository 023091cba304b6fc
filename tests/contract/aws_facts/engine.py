"""The embedded AWS, or an account of AWS, as a judge: clients, and resources in a line each that are deleted at the end."""

import json
import re
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from tests.simulator.machinery.account import EVERYTHING, Account, refusal, until

Json = dict[str, Any]
NAMES = "hyperpod-cdk-fact-"
GONE = re.compile("accepted|NotFound|NoSuch|NotExist")
PRINTS = "import json\ndef handler(event, context): print(json.dumps(event))"
ECHO, FAILS = "def handler(event, context): return event", "def handler(event, context): raise ValueError('no')"
PASSES: Json = {"Step": {"Type": "Pass", "Next": "Respond"}, "Respond": {"Type": "Pass", "End": True}}
WAITS: Json = {"Wait": {"Type": "Wait", "Seconds": 200_000, "End": True}}


@dataclass
class Steps:
    """A state machine with some steps, as a judge runs it."""

    client: Any
    arn: str
    wait: Callable[[str], Any]  # lets time pass until an execution has ended

    def start(self, name: str, event: Json | None = None) -> str:
        """Return the ARN of an execution."""
        given = {"name": name, "input": json.dumps({"event": event or {}, "memory": {}})}
        return str(self.client.start_execution(stateMachineArn=self.arn, **given)["executionArn"])

    def ended(self, execution: str) -> Json:
        """Return an execution that has ended."""
        self.wait(execution)
        return dict(self.client.describe_execution(executionArn=execution))


class Engine(Account, ExitStack):
    """An account, which may have resources of others; all names here are new, and all is deleted when it is closed."""

    def __init__(self, make: Callable[..., Any], pause_s: float = 0.01, patience_s: float = 30) -> None:
        ExitStack.__init__(self)
        Account.__init__(self, make)
        self.pause_s = pause_s
        self.until = partial(until, seconds=patience_s, pause_s=pause_s)
        self.left: list[str] = []  # what could not be deleted

    def later(self, call: Callable[..., Any], **arguments: Any) -> None:
        """Call at the end, whether or not there is something to delete."""

        def delete() -> None:
            if not GONE.search(answer := refusal(call, **arguments)):
                self.left.append(f"{arguments}: {answer}")

        self.callback(delete)

    def name(self) -> str:
        """Return a new name."""
        return NAMES + uuid.uuid4().hex[:12]

    @cached_property
    def service_role(self) -> str:
        """Return the role of all functions and state machines."""
        role = self.role(self.name(), EVERYTHING, principal=["lambda.amazonaws.com", "states.amazonaws.com"])
        time.sleep(15 * self.pause_s)  # on AWS a new role cannot be assumed for some seconds
        return role

    def new_function(self, code: str = ECHO) -> Json:
        """Return CreateFunction's answer for a new Python function with a log group."""
        group = self.log_group(f"/aws/lambda/{self.name()}")
        return dict(self.create_function(group.split("/")[-1], code, Role=self.service_role))

    def active_function(self, *code: str) -> str:
        """Return the ARN of a new Python function that can be invoked."""
        arn = str(self.new_function(*code)["FunctionArn"])
        self.until(lambda: self.lambda_.get_function_configuration(FunctionName=arn)["State"] == "Active")
        return arn

    def lost_event(self, age_s: int = 21_600, concurrency: int | None = None) -> Json:
        """Return the context in the record of an event that a function fails to process."""
        name, target = self.active_function(FAILS), self.active_function(PRINTS)
        limits = {"MaximumEventAgeInSeconds": age_s, "DestinationConfig": {"OnFailure": {"Destination": target}}}
        self.lambda_.put_function_event_invoke_config(FunctionName=name, **limits)
        if concurrency is not None:
            self.lambda_.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=concurrency)
        self.lambda_.invoke(FunctionName=name, InvocationType="Event")
        return dict(self._printed(target)["requestContext"])

    def heard(self, machine: str, status: str, act: Callable[[], Any]) -> Json:
        """Return the detail of the event about a state machine's execution that ``act`` causes."""
        target, detail = self.active_function(PRINTS), {"stateMachineArn": [machine], "status": [status]}
        self.rule(self.name(), {"source": ["aws.states"], "detail": detail}, target)
        time.sleep(30 * self.pause_s)  # on AWS a new rule hears nothing at first
        act()
        return dict(self._printed(target)["detail"])

    def _printed(self, function: str) -> Json:
        """Return the first event that a function prints."""
        group = "/aws/lambda/" + function.rpartition(":")[2]
        found = self.until(lambda: re.search('^{".*', "\n".join(self.messages(group)), re.MULTILINE))
        return dict(json.loads(found[0]))

    def steps(self, states: Json = PASSES, **options: Any) -> Steps:
        """Return a new state machine that passes two states and succeeds, or has other ones."""
        return Steps(self.stepfunctions, self.machine(self.name(), states, roleArn=self.service_role, **options), self.ended)

    def waiting(self, timeout_s: int = 100_000) -> Steps:
        """Return a new state machine that waits until it times out."""
        return self.steps(WAITS, TimeoutSeconds=timeout_s)
