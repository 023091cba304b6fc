"""An account with roles, functions and state machines, made in a line each."""

import io
import json
import time
import zipfile
from collections.abc import Callable
from typing import Any

from botocore import xform_name
from botocore.config import Config
from botocore.exceptions import ClientError

from local_aws import iam
from local_aws.testing import ACCOUNT, REGION, Client, ask

EVERYTHING = {"Effect": "Allow", "Action": "*", "Resource": "*"}


def package(**files: str) -> bytes:
    """A deployment package: `package(index_py="...")` holds index.py."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as content:
        for name, text in files.items():
            content.writestr(".".join(name.rsplit("_", 1)), text)
    return archive.getvalue()


def document(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def until(look: Callable[[], Any], seconds: float = 60, pause_s: float = 0.01) -> Any:
    """What ``look`` returns once it is true."""
    end = time.monotonic() + seconds
    while not (seen := look()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(pause_s)
    return seen


def outcome(call: Callable[..., Any], **arguments: Any) -> Any:
    """Return what a call returns, or the code of the error that it raises."""
    try:
        return call(**arguments)
    except Exception as error:  # noqa: BLE001  a fake's exceptions are named like AWS's codes
        return str(error.response["Error"]["Code"]) if isinstance(error, ClientError) else type(error).__name__


def refusal(call: Callable[..., Any], **arguments: Any) -> str:
    """Return the code of the error that a call raises, or `accepted`."""
    return str(outcome(lambda: (call(**arguments), "accepted")[1]))


class Account:
    """The emptied account, with clients as they are needed."""

    until = staticmethod(until)

    def __init__(self, client: Client) -> None:
        self._client = client
        self._clients: dict[str, Any] = {}

    def __getattr__(self, service: str) -> Any:
        """The client of a service: `account.s3`, `account.lambda_`."""
        name = service.rstrip("_")
        return self._clients.setdefault(name, self._client(name))

    def client_without_retries(self, service: str) -> Any:
        """A client that reports the first error."""
        return self._client(service, config=Config(retries={"total_max_attempts": 1}))

    def as_role(self, role_arn: str, service: str, principal: str = "lambda.amazonaws.com", name: str = "test") -> Any:
        """A client with the credentials of the role, taken on by a service."""
        session = iam.assume(ACCOUNT, role_arn, principal, name)
        return self.with_keys(service, **session.client_keys)

    def with_keys(self, service: str, **keys: str) -> Any:
        """A client with these credentials."""
        return self._client(service, **keys)

    def later(self, call: Callable[..., Any], **arguments: Any) -> None:
        """What deletes a resource, for an account that is not emptied."""

    def assumed(self, service: str, role: str, sts: Any = None) -> Any:
        """A client with the credentials of the role with this ARN, taken on by the owner or the caller of ``sts``."""
        keys = (sts or self.sts).assume_role(RoleArn=role, RoleSessionName="me")["Credentials"]
        named = {f"aws_{xform_name(member)}": keys[member] for member in ("AccessKeyId", "SecretAccessKey", "SessionToken")}
        return self.with_keys(service, **named)

    def role(self, name: str, *statements: dict[str, Any], principal: Any = "lambda.amazonaws.com", **trust: Any) -> str:
        """The ARN of a new role that the service, or each of a list, may assume, with these statements."""
        trusting = {"Effect": "Allow", "Principal": {"Service": principal}, "Action": "sts:AssumeRole", **trust}
        self.later(self.iam.delete_role, RoleName=name)
        self.later(self.iam.delete_role_policy, RoleName=name, PolicyName="policy")
        made = self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=document(trusting))
        if statements:
            self.allow(name, *statements)
        return str(made["Role"]["Arn"])

    def allow(self, role: str, *statements: dict[str, Any]) -> None:
        """Let the role do just this."""
        self.iam.put_role_policy(RoleName=role, PolicyName="policy", PolicyDocument=document(*statements))

    def bucket(self, name: str) -> str:
        """The name of a new bucket."""
        self.later(self.s3.delete_bucket, Bucket=name)
        self.later(self._empty, bucket=name)
        self.s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": self.s3.meta.region_name})
        return name

    def _empty(self, bucket: str) -> None:
        found = self.s3.list_object_versions(Bucket=bucket)
        for each in found.get("Versions", []) + found.get("DeleteMarkers", []):
            self.s3.delete_object(Bucket=bucket, Key=each["Key"], VersionId=each["VersionId"])

    def log_group(self, name: str) -> str:
        """The name of a new log group."""
        self.later(self.logs.delete_log_group, logGroupName=name)
        self.logs.create_log_group(logGroupName=name)
        return name

    def function(self, name: str, code: str = "", *statements: dict[str, Any], **options: Any) -> str:
        """The ARN of a new Python function with a role of its own, which may write its log."""
        return str(self.create_function(name, code, *statements, **options)["FunctionArn"])

    def create_function(self, name: str, code: str, *statements: dict[str, Any], **options: Any) -> Any:
        """CreateFunction's answer for such a function."""
        role = options.pop("Role", None) or self.role(f"{name}-role", *(statements or (EVERYTHING,)))
        content = options.pop("Code", None) or {"ZipFile": package(index_py=code)}
        given = {"Runtime": "python3.13", "Handler": "index.handler", "Timeout": 20, "Code": content, "Role": role, **options}
        self.later(self.lambda_.delete_function, FunctionName=name)
        return self.lambda_.create_function(FunctionName=name, **given)

    def call(self, function: str, event: Any = None, **options: Any) -> Any:
        """What the function returns; for a failed one, its error's description."""
        answer = self.lambda_.invoke(FunctionName=function, Payload=json.dumps(event or {}), **options)
        payload = json.loads(answer["Payload"].read() or "null")
        assert bool(answer.get("FunctionError")) == (isinstance(payload, dict) and "errorType" in payload)
        return payload

    def rule(self, name: str, pattern: dict[str, Any], function: str) -> None:
        """Let a new rule for events invoke the function with this ARN."""
        self.later(self.events.delete_rule, Name=name)
        self.later(self.events.remove_targets, Rule=name, Ids=["target"])
        rule = self.events.put_rule(Name=name, EventPattern=json.dumps(pattern))["RuleArn"]
        allowed = {"Action": "lambda:InvokeFunction", "Principal": "events.amazonaws.com", "SourceArn": rule}
        self.lambda_.add_permission(FunctionName=function, StatementId="events", **allowed)
        self.events.put_targets(Rule=name, Targets=[{"Id": "target", "Arn": function}])

    def machine(self, name: str, states: dict[str, Any], *statements: dict[str, Any], **options: Any) -> str:
        """The ARN of a new state machine, which starts at the first of ``states``."""
        top = {key: options.pop(key) for key in ("TimeoutSeconds",) if key in options}
        definition = json.dumps({"StartAt": next(iter(states)), "States": states, **top})
        allowed = statements or (EVERYTHING,)
        role = options.pop("roleArn", None) or self.role(f"{name}-role", *allowed, principal="states.amazonaws.com")
        made = self.stepfunctions.create_state_machine(name=name, definition=definition, roleArn=role, **options)
        self.later(self.stepfunctions.delete_state_machine, stateMachineArn=made["stateMachineArn"])
        return str(made["stateMachineArn"])

    def start(self, machine: str, event: Any = None, **options: Any) -> str:
        """The ARN of a new execution."""
        started = self.stepfunctions.start_execution(stateMachineArn=machine, input=json.dumps(event or {}), **options)
        return str(started["executionArn"])

    def ended(self, execution: str) -> dict[str, Any]:
        """The execution, once it is over."""
        find = self.stepfunctions.describe_execution
        self.until(lambda: find(executionArn=execution)["status"] != "RUNNING")
        return dict(find(executionArn=execution))

    def ran(self, function: str) -> list[dict[str, Any]]:
        """The function's invocations that have ended."""
        return [each for each in ask("invocations") if each["function"] == function]

    def messages(self, group: str) -> list[str]:
        """All messages of a log group."""
        return [event["message"] for event in self.logs.filter_log_events(logGroupName=group)["events"]]


def arn(service: str, rest: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{rest}"
