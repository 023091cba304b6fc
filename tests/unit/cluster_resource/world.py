"""The real entry, step and responder code between a fake CloudFormation, a fake Step Functions and a fake SageMaker."""

import itertools
import json
from typing import Any, ClassVar

from cluster_resource import entry, responder, response, step
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.diagnostics import Diagnostics
from cluster_resource.event import CLUSTER, Event, physical_id
from cluster_resource.executions import Executions
from tests.faults_table.recording import happened
from tests.unit.cluster_resource.fake_logs import FakeLogs
from tests.unit.cluster_resource.fake_s3 import FakeS3
from tests.unit.cluster_resource.fake_sagemaker import FakeSageMaker
from tests.unit.cluster_resource.fake_states import MACHINE, FakeStates
from tests.unit.cluster_resource.manual_clock import ManualClock
from tests.unit.cluster_resource.modes import SCRIPTS, in_mode, properties_in_mode

Json = dict[str, Any]
STACK = "arn:aws:cloudformation:us-west-2:123456789012:stack/reference-Cluster/5a7d3b10-c6f0-11f0-8de9-0242ac120002"
LOGICAL_ID = "ClusterResource1A2B3C4D"
NO_REASON = "see the function's log"
ROLE = "arn:aws:iam::123456789012:role/NodeRole"


def group(name: str, count: int | str, instance_type: str = "ml.c5.xlarge", **more: Any) -> Json:
    """An instance group of a request."""
    scripts = {"SourceS3Uri": "s3://sagemaker-scripts/lifecycle/1/fs-1/", "OnCreate": "on_create.sh"}
    named = {"InstanceGroupName": name, "InstanceType": instance_type, "InstanceCount": count}
    return {**named, "LifeCycleConfig": scripts, "ExecutionRole": ROLE, "ThreadsPerCore": 1, **more}


def request(*groups: Json, subnet: str = "subnet-0123456789abcdef0", **more: Any) -> Json:
    """CreateCluster's input as the template holds it; without groups a controller and four workers."""
    chosen = groups or (group("controller", 1), group("workers", 4, "ml.trn1.32xlarge"))
    vpc = {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": [subnet]}
    return {"InstanceGroups": list(chosen), "VpcConfig": vpc, **more}


def properties(wanted: Json | None = None, **more: Any) -> Json:
    """The resource's properties."""
    fixed = {"ServiceToken": "arn:entry", "ServiceTimeout": 3600, "PropertiesVersion": "1", "NamePrefix": "reference"}
    return {**fixed, "Wait": "nodes", "WaitHours": 1, "NetworkIdentity": "n1", "Request": wanted or request(), **more}


def as_strings(value: Any) -> Any:
    """What CloudFormation makes of properties."""
    if isinstance(value, dict):
        return {key: as_strings(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_strings(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


class World:
    """Everything around the custom resource; requests go in, responses come out, and tests move the time."""

    mode: ClassVar[str] = SCRIPTS
    """What the requests of tests become."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.sagemaker = FakeSageMaker(self.clock)
        self.states = FakeStates(self.clock, self._step, self._ended)
        self.executions = Executions(self.states, MACHINE)
        self.responses: dict[str, list[Json]] = {}
        self.logs = FakeLogs()
        self.s3 = FakeS3()
        self.seconds_left = 59.0
        self.stack_status = "UPDATE_IN_PROGRESS"
        self._numbers = itertools.count(1)

    def event(self, kind: str, wanted: Json, old: Json | None = None, physical_id: str = "", **more: Any) -> Json:
        """One event of CloudFormation's, issued now."""
        number = next(self._numbers)
        date = self.clock.now.strftime("%Y%m%dT%H%M%SZ")
        raw = {
            "RequestType": kind,
            "RequestId": f"request-{number}",
            "StackId": STACK,
            "LogicalResourceId": LOGICAL_ID,
            "ResourceType": CLUSTER,
            "ResponseURL": f"https://bucket/{number}?X-Amz-Date={date}&X-Amz-Signature=secret",
            "ResourceProperties": as_strings(properties_in_mode(wanted, self.mode)),
            **({"PhysicalResourceId": physical_id} if physical_id else {}),
            **({"OldResourceProperties": as_strings(properties_in_mode(old, self.mode))} if old is not None else {}),
        }
        return {**raw, **more}

    def deliver(self, raw: Json) -> Json:
        """Give an event to the entry function."""
        entry.launch(raw, self.executions)
        return raw

    def run(self, seconds: float = 3600) -> None:
        """Let time pass, step by step."""
        self.states.pass_time(seconds)

    def finish(self, raw: Json) -> Json:
        """Deliver an event, let time pass until it has a response, and return the response."""
        self.deliver(raw)
        end = self.clock.after(3600)
        while raw["RequestId"] not in self.responses:
            due = self.states.next_due()
            assert due is not None, "nothing is under way, and the request has no response"
            assert due <= end, "no response within CloudFormation's hour"
            self.clock.now = max(self.clock.now, due)
            self.states.run_due()
        return self.response(raw)

    def response(self, raw: Json) -> Json:
        """Return the one response to a request, even if it was sent twice."""
        found = self.responses[raw["RequestId"]]
        assert all(other == found[0] for other in found), found
        return found[0]

    def create(self, wanted: Json | None = None) -> Json:
        """Create the resource and return its SUCCESS response."""
        done = self.finish(self.event("Create", wanted or properties()))
        assert done["Status"] == "SUCCESS", done
        self.sagemaker.calls.clear()
        return done

    def create_outside(self, name: str, **asked: Any) -> None:
        """Create a cluster outside the resource, by a request of the test's mode."""
        self.sagemaker.create_cluster(ClusterName=name, **in_mode(asked, self.mode))

    def client_of(self, service: str) -> Any:
        """Return the client of CloudFormation or S3."""
        return {"cloudformation": self, "s3": self.s3}[service]

    def describe_stacks(self, StackName: str) -> Json:  # noqa: N803  boto3's name
        """CloudFormation's view of the stack."""
        return {"Stacks": [{"StackName": StackName, "StackStatus": self.stack_status}]}

    def update_late(self, name: str, wanted: Json) -> None:
        """Let a call for ``wanted`` take effect whose function died."""
        groups = in_mode(wanted["Request"], self.mode)["InstanceGroups"]
        self.sagemaker.update_cluster(ClusterName=name, InstanceGroups=groups)

    def name_of(self, raw: Json) -> str:
        """The name that an event gives its cluster."""
        return physical_id(Event.parse(raw))

    def send(self, event: Event, verdict: Json) -> None:
        """Send a response as the real code does."""
        response.send(event, verdict, put=lambda _url, content: self._put(event, content), sleep=lambda _: None)

    def _put(self, event: Event, content: bytes) -> int:
        assert len(content) <= 4096
        said = json.loads(content)
        self.responses.setdefault(event.request_id, []).append(said)
        happened(f"{event.request_type} {said['Status']}: {said['Reason']}".removesuffix(f": {NO_REASON}"))
        return 200

    def _step(self, payload: Json) -> Json:
        before = len(self.sagemaker.calls)
        result = step.handle(
            payload,
            lambda: ClusterApi(self.sagemaker, self.client_of),
            lambda: self.executions,
            self.send,
            lambda: Diagnostics(lambda: self.logs, lambda: self.seconds_left),
        )
        made = [operation for operation, _ in self.sagemaker.calls[before:]]
        assert made.count("DescribeCluster") <= 1, made
        assert sum(not operation.startswith(("Describe", "List")) for operation in made) <= 1, made
        return result

    def _ended(self, event: Json) -> None:
        responder.respond(event, self.executions, self.send)
