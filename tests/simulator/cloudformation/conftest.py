"""An empty account, what a user does there with stacks, and functions that answer custom resources as a test says."""

import json
import threading
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import boto3
import pytest
from botocore.config import Config

from local_aws import cloudformation, testing
from local_aws.cloudformation import operation
from local_aws.cloudformation.resources import custom
from local_aws.credentials import OWNER
from local_aws.server import EmbeddedAws
from tests.simulator.machinery.stacks import Stacks

REGION = "us-west-2"
SPEED = 3000
Json = dict[str, Any]


@dataclass
class World(Stacks):
    """A user's view of the account."""

    endpoint: str

    def client(self, service: str) -> Any:
        config = Config(retries={"total_max_attempts": 1})
        return boto3.client(service, endpoint_url=self.endpoint, region_name=REGION, config=config, **OWNER.client_keys)

    def __post_init__(self) -> None:
        self.cloudformation = self.client("cloudformation")

    @cached_property
    def ssm(self) -> Any:
        return self.client("ssm")

    def names(self) -> list[str]:
        return [stack["StackName"] for stack in self.cloudformation.describe_stacks()["Stacks"]]

    def failures(self, name: str = "stack") -> list[str]:
        """What failed, and why."""
        failed = [event for event in self.all_events(name) if event["ResourceStatus"].endswith("FAILED")]
        return [f"{event['LogicalResourceId']}: {event.get('ResourceStatusReason')}" for event in failed]

    def physical_id(self, logical_id: str, name: str = "stack") -> str:
        detail = self.cloudformation.describe_stack_resource(StackName=name, LogicalResourceId=logical_id)
        return str(detail["StackResourceDetail"]["PhysicalResourceId"])

    def resources(self, name: str = "stack") -> set[str]:
        listed = self.cloudformation.list_stack_resources(StackName=name)["StackResourceSummaries"]
        return {resource["LogicalResourceId"] for resource in listed}

    def clean(self) -> None:
        """Remove what the tests make under names of their own; emptying all of moto would take a second each time."""
        for name in self.parameters():
            self.ssm.delete_parameter(Name=name)
        s3, iam = self.client("s3"), self.client("iam")
        for bucket in s3.list_buckets()["Buckets"]:
            for kept in s3.list_objects_v2(Bucket=bucket["Name"]).get("Contents", ()):
                s3.delete_object(Bucket=bucket["Name"], Key=kept["Key"])
            s3.delete_bucket(Bucket=bucket["Name"])
        for role in iam.list_roles()["Roles"]:
            for policy in iam.list_role_policies(RoleName=role["RoleName"])["PolicyNames"]:
                iam.delete_role_policy(RoleName=role["RoleName"], PolicyName=policy)
            for policy in iam.list_attached_role_policies(RoleName=role["RoleName"])["AttachedPolicies"]:
                iam.detach_role_policy(RoleName=role["RoleName"], PolicyArn=policy["PolicyArn"])
            iam.delete_role(RoleName=role["RoleName"])

    def parameters(self) -> dict[str, str]:
        """The parameter store: what stands in it is what the stacks really made."""
        found = self.ssm.get_parameters_by_path(Path="/", Recursive=True)["Parameters"]
        return {parameter["Name"]: parameter["Value"] for parameter in found}


@dataclass
class Functions:
    """Stands in for Lambda: remembers the events, and answers each as the test said for its kind."""

    events: list[Json] = field(default_factory=list)
    replies: dict[str, Callable[[Json], Json | None]] = field(default_factory=dict)

    def __call__(self, _: Any, event: Json) -> None:
        self.events.append(event)
        reply = self.replies[event["RequestType"]](event) if event["RequestType"] in self.replies else {}
        if reply is not None:
            threading.Thread(target=self.answer, args=(event,), kwargs=reply).start()

    def answer(self, event: Json, **fields: Any) -> None:
        """Answer an event with success, but for the given fields."""
        physical_id = event.get("PhysicalResourceId", f"made-{event['LogicalResourceId']}")
        answer = {name: event[name] for name in ("StackId", "RequestId", "LogicalResourceId")}
        self.put(event, json.dumps({**answer, "Status": "SUCCESS", "PhysicalResourceId": physical_id, **fields}).encode())

    def put(self, event: Json, body: bytes) -> None:
        request = urllib.request.Request(event["ResponseURL"], data=body, method="PUT")
        with urllib.request.urlopen(request) as response:
            assert response.status == 200

    def on(self, kind: str, **fields: Any) -> None:
        """Answer every event of this kind with these fields."""
        self.replies[kind] = lambda _: fields

    def silent_on(self, kind: str) -> None:
        self.replies[kind] = lambda _: None

    def kinds(self) -> list[str]:
        return [event["RequestType"] for event in self.events]


@pytest.fixture(scope="module")
def account(aws: EmbeddedAws) -> Iterator[World]:
    """The account, emptied for each file of tests, as other tests use it in between."""
    with testing.emptied(SPEED):
        yield World(aws.endpoint)


@pytest.fixture
def world(account: World) -> Iterator[World]:
    yield account
    cloudformation.reset()
    account.clean()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests that start an operation are answered at once, so that a test can act while it is under way."""
    monkeypatch.setattr(operation, "GRACE_S", 0.0)


@pytest.fixture
def functions(world: World, monkeypatch: pytest.MonkeyPatch) -> Functions:
    """Functions that answer at once with success."""
    stand_in = Functions()
    monkeypatch.setattr(custom, "_invoke", stand_in)
    return stand_in


def parameter(name: str, value: Any = "x", **attributes: Any) -> Json:
    """A resource that costs nothing to make: a parameter in the parameter store."""
    properties = {"Type": "String", "Name": f"/{name}", "Value": value}
    return {"Type": "AWS::SSM::Parameter", "Properties": properties, **attributes}


def broken(**attributes: Any) -> Json:
    """A resource that cannot be made: a policy of a role that is not there."""
    document = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "*"}]}
    properties = {"PolicyName": "p", "PolicyDocument": document, "Roles": ["nobody"]}
    return {"Type": "AWS::IAM::Policy", "Properties": properties, **attributes}


def custom_resource(**properties: Any) -> Json:
    """A custom resource behind a function."""
    token = f"arn:aws:lambda:{REGION}:123456789012:function:handler"
    return {"Type": "Custom::Thing", "Properties": {"ServiceToken": token, **properties}}
