"""The embedded AWS, or an account of AWS, as a judge: clients, and resources in a line each that are deleted at the end."""

import json
import re
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from tests.contract.aws_facts.fact import refusal
from tests.simulator.machinery.account import EVERYTHING, Account, document, until

__all__ = ["EVERYTHING", "NAMES", "Engine", "Json", "Steps", "document"]

Json = dict[str, Any]
NAMES = "hyperpod-cdk-fact-"
GONE = re.compile("accepted|NotFound|NoSuch|NotExist")
PRINTS = "import json\ndef handler(event, context): print(json.dumps(event))"
FAILS = "def handler(event, context): raise ValueError('no')"
PASSES = {"Step": {"Type": "Pass", "Next": "Respond"}, "Respond": {"Type": "Pass", "End": True}}
WAITS = {"Wait": {"Type": "Wait", "Seconds": 200_000, "End": True}}


@dataclass
class Steps:
    """A state machine with some steps, as a judge runs it."""

    client: Any
    arn: str
    run: Callable[[str], Any]
    """Let time pass until an execution has ended."""

    def start(self, name: str, event: Json | None = None) -> str:
        """Return the ARN of an execution."""
        given = {"name": name, "input": json.dumps({"event": event or {}, "memory": {}})}
        return str(self.client.start_execution(stateMachineArn=self.arn, **given)["executionArn"])


class Engine(ExitStack):
    """An account, which may have resources of others; all names here are new, and all is deleted when it is closed."""

    def __init__(self, make: Callable[..., Any], pause_s: float = 0.01, patience_s: float = 30) -> None:
        super().__init__()
        self.client: Callable[..., Any] = cache(make)
        self.client_with = self.client
        self._account = Account(self.client)
        self._pause_s, self._patience_s = pause_s, patience_s
        self.left: list[str] = []
        """What could not be deleted."""

    def later(self, call: Callable[..., Any], **arguments: Any) -> None:
        """Call at the end, whether or not there is something to delete."""

        def delete() -> None:
            if not GONE.search(answer := refusal(call, **arguments)):
                self.left.append(f"{arguments}: {answer}")

        self.callback(delete)

    def name(self) -> str:
        """Return a new name."""
        return NAMES + uuid.uuid4().hex[:12]

    def until(self, look: Callable[[], Any]) -> Any:
        """Return what ``look`` returns once it is true."""
        return until(look, self._patience_s, self._pause_s)

    def role(self, *statements: Json, principal: Any = "lambda.amazonaws.com") -> str:
        """Return the ARN of a new role that a service may assume."""
        iam, name = self.client("iam"), self.name()
        self.later(iam.delete_role, RoleName=name)
        self.later(iam.delete_role_policy, RoleName=name, PolicyName="policy")
        return self._account.role(name, *(statements or (EVERYTHING,)), principal=principal)

    @cached_property
    def service_role(self) -> str:
        """Return the role of all functions and state machines."""
        role = self.role(principal=["lambda.amazonaws.com", "states.amazonaws.com"])
        time.sleep(15 * self._pause_s)  # on AWS a new role cannot be assumed for some seconds
        return role

    def create_function(self, code: str = "def handler(event, context): return event") -> Json:
        """Return CreateFunction's answer for a new Python function with a log group."""
        functions, logs, name = self.client("lambda"), self.client("logs"), self.name()
        self.later(functions.delete_function, FunctionName=name)
        self.later(logs.delete_log_group, logGroupName=f"/aws/lambda/{name}")
        logs.create_log_group(logGroupName=f"/aws/lambda/{name}")
        return dict(self._account.create_function(name, code, Role=self.service_role))

    def function(self, *code: str) -> str:
        """Return the ARN of a new Python function that can be invoked."""
        find, arn = self.client("lambda").get_function_configuration, str(self.create_function(*code)["FunctionArn"])
        self.until(lambda: find(FunctionName=arn)["State"] == "Active")
        return arn

    def lost_event(self, age_s: int = 21_600, concurrency: int | None = None) -> Json:
        """Return the context in the record of an event that a function fails to process."""
        functions, name, target = self.client("lambda"), self.function(FAILS), self.function(PRINTS)
        limits = {"MaximumEventAgeInSeconds": age_s, "DestinationConfig": {"OnFailure": {"Destination": target}}}
        functions.put_function_event_invoke_config(FunctionName=name, **limits)
        if concurrency is not None:
            functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=concurrency)
        functions.invoke(FunctionName=name, InvocationType="Event")
        return dict(self._printed(target)["requestContext"])

    def heard(self, machine: str, status: str, act: Callable[[], Any]) -> Json:
        """Return the detail of the event about a state machine's execution that ``act`` causes."""
        rules, name, target = self.client("events"), self.name(), self.function(PRINTS)
        self.later(rules.delete_rule, Name=name)
        self.later(rules.remove_targets, Rule=name, Ids=["target"])
        pattern = {"source": ["aws.states"], "detail": {"stateMachineArn": [machine], "status": [status]}}
        self._account.rule(name, pattern, target)
        time.sleep(30 * self._pause_s)  # on AWS a new rule hears nothing at first
        act()
        return dict(self._printed(target)["detail"])

    def _printed(self, function: str) -> Json:
        """Return the first event that a function prints."""
        group = "/aws/lambda/" + function.rpartition(":")[2]
        found = self.until(lambda: re.search('^{".*', "\n".join(self._account.messages(group)), re.MULTILINE))
        return dict(json.loads(found[0]))

    def machine(self, states: Json, name: str = "", **options: Any) -> str:
        """Return the ARN of a new state machine, which starts at the first of ``states``."""
        made = self._account.machine(name or self.name(), states, roleArn=self.service_role, **options)
        self.later(self.client("stepfunctions").delete_state_machine, stateMachineArn=made)
        return made

    def steps(self, states: Json = PASSES, **options: Any) -> Steps:
        """Return a new state machine that passes two states and succeeds, or has other ones."""
        machines, arn = self.client("stepfunctions"), self.machine(states, **options)
        find = machines.describe_execution
        return Steps(machines, arn, lambda execution: self.until(lambda: find(executionArn=execution).get("stopDate")))

    def waiting(self, timeout_s: int = 100_000) -> Steps:
        """Return a new state machine that waits until it times out."""
        return self.steps(WAITS, TimeoutSeconds=timeout_s)
