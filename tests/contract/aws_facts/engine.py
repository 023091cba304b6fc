"""The embedded AWS, or an account of AWS, as a judge: clients, and resources in a line each that are deleted at the end."""

import io
import json
import time
import uuid
import zipfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cached_property
from typing import Any, Self

from botocore.exceptions import ClientError

from tests.contract.aws_facts.steps import Steps

Json = dict[str, Any]
EVERYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}
_PATIENCE_S = 300


class Engine:
    """An account, which may have resources of others; all names here are new."""

    def __init__(self, client: Callable[..., Any], pause_s: float = 0.01) -> None:
        self._make = client
        self._clients: dict[str, Any] = {}
        self._pause_s = pause_s
        self._cleanup = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Delete all that was created."""
        self._cleanup.close()

    def client(self, service: str) -> Any:
        """Return the client of a service."""
        return self._clients.setdefault(service, self._make(service))

    def client_with(self, service: str, **keys: str) -> Any:
        """Return a client with other credentials."""
        return self._make(service, **keys)

    def later(self, call: Callable[..., Any], **arguments: Any) -> None:
        """Call at the end, whether or not there is something to delete."""

        def delete() -> None:
            with suppress(ClientError):
                call(**arguments)

        self._cleanup.callback(delete)

    def name(self) -> str:
        """Return a new name."""
        return f"hyperpod-cdk-fact-{uuid.uuid4().hex[:12]}"

    def until(self, look: Callable[[], Any]) -> Any:
        """Return what ``look`` returns once it is true."""
        end = time.monotonic() + _PATIENCE_S
        while not (seen := look()):
            if time.monotonic() > end:
                raise TimeoutError(f"not within {_PATIENCE_S} s")
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

    def function(self, code: str = "def handler(event, context): return event", **options: Any) -> str:
        """Return the name of a new Python function."""
        functions, name = self.client("lambda"), self.name()
        given = {"Runtime": "python3.13", "Handler": "index.handler", "Code": {"ZipFile": _package(code)}, "Timeout": 20}
        self._once_the_role_works(
            functions.create_function, FunctionName=name, Role=options.pop("Role", self.functions_role), **given, **options
        )
        self.later(functions.delete_function, FunctionName=name)
        self.until(lambda: functions.get_function_configuration(FunctionName=name).get("State", "Active") == "Active")
        return name

    def machine(self, states: Json, **options: Any) -> str:
        """Return the ARN of a new state machine, which starts at the first of ``states``."""
        machines = self.client("stepfunctions")
        top = {key: options.pop(key) for key in ("TimeoutSeconds",) if key in options}
        definition = json.dumps({"StartAt": next(iter(states)), "States": states, **top})
        given = {"name": self.name(), "definition": definition, "roleArn": self.machines_role, **options}
        made = self._once_the_role_works(machines.create_state_machine, **given)
        self.later(machines.delete_state_machine, stateMachineArn=made["stateMachineArn"])
        return str(made["stateMachineArn"])

    def steps(self, states: Json | None = None) -> Steps:
        """Return a new state machine; without ``states`` one that passes two and succeeds."""
        two = {"Step": {"Type": "Pass", "Next": "Respond"}, "Respond": {"Type": "Pass", "End": True}}
        machines, arn = self.client("stepfunctions"), self.machine(states or two)

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
