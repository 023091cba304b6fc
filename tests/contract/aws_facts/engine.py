"""The embedded AWS, or an account of AWS, as a judge: clients, and resources in a line each that are deleted at the end."""

import io
import json
import time
import uuid
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from typing import Any, Self

from botocore.config import Config
from botocore.exceptions import ClientError

from tests.contract.aws_facts.steps import Steps

Json = dict[str, Any]
EVERYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}
NAMES = "hyperpod-cdk-fact-"
_GONE = ("NotFound", "NoSuch", "DoesNotExist", "does not exist")
PRINTS = "import json\ndef handler(event, context): print(json.dumps(event))"


class Engine:
    """An account, which may have resources of others; all names here are new."""

    def __init__(self, client: Callable[..., Any], pause_s: float = 0.01, patience_s: float = 30) -> None:
        self._make = client
        self._clients: dict[str, Any] = {}
        self._pause_s = pause_s
        self._patience_s = patience_s
        self._cleanup = ExitStack()
        self.left: list[str] = []
        """What could not be deleted."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Delete all that was created."""
        self._cleanup.close()

    def client(self, service: str) -> Any:
        """Return the client of a service."""
        return self._clients.setdefault(service, self._make(service))

    def client_without_retries(self, service: str) -> Any:
        """Return a client that reports the first error."""
        return self._make(service, config=Config(retries={"total_max_attempts": 1}))

    def client_with(self, service: str, **keys: str) -> Any:
        """Return a client with other credentials."""
        return self._make(service, **keys)

    def later(self, call: Callable[..., Any], **arguments: Any) -> None:
        """Call at the end, whether or not there is something to delete."""

        def delete() -> None:
            try:
                call(**arguments)
            except ClientError as error:
                if not any(word in str(error) for word in _GONE):
                    self.left.append(str(error))

        self._cleanup.callback(delete)

    def name(self) -> str:
        """Return a new name."""
        return NAMES + uuid.uuid4().hex[:12]

    def until(self, look: Callable[[], Any]) -> Any:
        """Return what ``look`` returns once it is true."""
        end = time.monotonic() + self._patience_s
        while not (seen := look()):
            if time.monotonic() > end:
                raise TimeoutError(f"not within {self._patience_s} s")
            time.sleep(self._pause_s)
        return seen

    def role(self, *statements: Json, principal: str = "lambda.amazonaws.com") -> str:
        """Return the ARN of a new role that a service may assume."""
        iam, name = self.client("iam"), self.name()
        trust = {"Effect": "Allow", "Principal": {"Service": principal}, "Action": "sts:AssumeRole"}
        made = iam.create_role(RoleName=name, AssumeRolePolicyDocument=document(trust))
        self.later(iam.delete_role, RoleName=name)
        iam.put_role_policy(RoleName=name, PolicyName="policy", PolicyDocument=document(*(statements or (EVERYTHING,))))
        self.later(iam.delete_role_policy, RoleName=name, PolicyName="policy")
        return str(made["Role"]["Arn"])

    @cached_property
    def machines_role(self) -> str:
        """Return a role for all state machines."""
        return self.role(principal="states.amazonaws.com")

    @cached_property
    def functions_role(self) -> str:
        """Return a role for all functions."""
        return self.role()

    def create_function(self, code: str = "def handler(event, context): return event") -> Json:
        """Return CreateFunction's response for a new Python function."""
        functions, name = self.client("lambda"), self.name()
        given = {"Runtime": "python3.13", "Handler": "index.handler", "Code": {"ZipFile": _package(code)}, "Timeout": 20}
        made = self._once_the_role_works(functions.create_function, FunctionName=name, Role=self.functions_role, **given)
        self.later(functions.delete_function, FunctionName=name)
        self.later(self.client("logs").delete_log_group, logGroupName=f"/aws/lambda/{name}")
        return dict(made)

    def function(self, code: str = "def handler(event, context): return event") -> str:
        """Return the name of a new Python function that can be invoked."""
        name, functions = str(self.create_function(code)["FunctionName"]), self.client("lambda")
        self.until(lambda: functions.get_function_configuration(FunctionName=name)["State"] == "Active")
        return name

    def lost_event(self, code: str, age_s: int = 21_600, concurrency: int | None = None) -> tuple[Json, int]:
        """Return the record of an event that a function fails to process, and the number of attempts."""
        functions, name = self.client("lambda"), self.function(code)
        target = self.function(PRINTS)
        functions.put_function_event_invoke_config(
            FunctionName=name,
            MaximumEventAgeInSeconds=age_s,
            DestinationConfig={"OnFailure": {"Destination": self._arn(target)}},
        )
        if concurrency is not None:
            functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=concurrency)
        functions.invoke(FunctionName=name, InvocationType="Event", Payload=json.dumps({"value": 1}))
        [record] = [json.loads(line) for line in self.until(lambda: self._lines(target, '{"'))]
        made = record["requestContext"]["approximateInvokeCount"]
        self.until(lambda: len(self._lines(name, "START")) >= made)
        return record, len(self._lines(name, "START"))

    def heard(self, detail: Json, act: Callable[[], Any]) -> Json:
        """Return the detail of the event that ``act`` causes, by a rule for Step Functions' events with such a detail."""
        rules, name, target = self.client("events"), self.name(), self.function(PRINTS)
        pattern = json.dumps({"source": ["aws.states"], "detail": detail})
        rule = rules.put_rule(Name=name, EventPattern=pattern)["RuleArn"]
        self.later(rules.delete_rule, Name=name)
        rules.put_targets(Rule=name, Targets=[{"Id": "target", "Arn": self._arn(target)}])
        self.later(rules.remove_targets, Rule=name, Ids=["target"])
        allowed = {"Action": "lambda:InvokeFunction", "Principal": "events.amazonaws.com", "SourceArn": rule}
        self.client("lambda").add_permission(FunctionName=target, StatementId="rule", **allowed)
        time.sleep(30 * self._pause_s)  # a new rule hears nothing at first on AWS
        act()
        return dict(json.loads(self.until(lambda: self._lines(target, '{"'))[0])["detail"])

    def _arn(self, function: str) -> str:
        return str(self.client("lambda").get_function_configuration(FunctionName=function)["FunctionArn"])

    def _lines(self, function: str, start: str) -> list[str]:
        """Return the lines of a function's log that start so."""
        logs = self.client("logs")
        try:
            found = logs.filter_log_events(logGroupName=f"/aws/lambda/{function}")["events"]
        except logs.exceptions.ResourceNotFoundException:
            return []
        return [line for event in found for line in event["message"].splitlines() if line.startswith(start)]

    def machine(self, states: Json, **options: Any) -> str:
        """Return the ARN of a new state machine, which starts at the first of ``states``."""
        top = {key: options.pop(key) for key in ("TimeoutSeconds",) if key in options}
        return self.create_machine(json.dumps({"StartAt": next(iter(states)), "States": states, **top}), **options)

    def create_machine(self, definition: str, **options: Any) -> str:
        """Return the ARN of a new state machine."""
        machines = self.client("stepfunctions")
        given = {"name": self.name(), "definition": definition, "roleArn": self.machines_role, **options}
        arn = str(self._once_the_role_works(machines.create_state_machine, **given)["stateMachineArn"])
        self.later(machines.delete_state_machine, stateMachineArn=arn)
        return arn

    def steps(self) -> Steps:
        """Return a new state machine that passes two states and succeeds."""
        return self._steps({"Step": {"Type": "Pass", "Next": "Respond"}, "Respond": {"Type": "Pass", "End": True}})

    def waiting(self, timeout_s: int = 100_000) -> Steps:
        """Return a new state machine that waits until it times out."""
        return self._steps({"Wait": {"Type": "Wait", "Seconds": 200_000, "End": True}}, TimeoutSeconds=timeout_s)

    def _steps(self, states: Json, **options: Any) -> Steps:
        machines, arn = self.client("stepfunctions"), self.machine(states, **options)

        def run(execution: str) -> None:
            self.until(lambda: machines.describe_execution(executionArn=execution)["status"] != "RUNNING")

        return Steps(machines, arn, run)

    def _once_the_role_works(self, create: Callable[..., Any], **given: Any) -> Any:
        """Create something with a role; on AWS a new role cannot be assumed for some seconds."""

        def tried() -> Any:
            try:
                return create(**given)
            except ClientError as error:
                if "assume" in str(error):
                    return None
                raise

        return self.until(tried)


def document(*statements: Json) -> str:
    """Return a policy."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def _package(code: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr("index.py", code)
    return archive.getvalue()
