"""Stacks as a judge runs them, and a custom resource whose function answers as a question says."""

import json
from functools import cache
from itertools import groupby
from typing import Any

from tests.contract.aws_facts.engine import Engine, Json
from tests.contract.aws_facts.fact import refusal
from tests.soak.timeline import Timeline
from tests.unit.cluster_resource.manual_clock import ManualClock

MADE = "made"
FUNCTION = """
import boto3, json, urllib.request

def handler(event, context):
    request = " ".join(event[key] for key in ("RequestType", "PhysicalResourceId") if key in event)
    boto3.client("ssm").put_parameter(Name="/" + event["StackId"].split("/")[1], Value=request, Type="String", Overwrite=True)
    answer = json.loads(event["ResourceProperties"]["Answers"]).get(event["RequestType"], {})
    if "silent" not in answer:
        given = {"Status": "SUCCESS", "Reason": "as told", "PhysicalResourceId": "made", **event, **answer}
        request = urllib.request.Request(event["ResponseURL"], json.dumps(given).encode(), {"Content-Type": ""}, method="PUT")
        urllib.request.urlopen(request)
"""


class Stack:
    """A stack of an account, which is deleted at the end."""

    def __init__(self, judge: Engine) -> None:
        self.judge, self.name, self.id = judge, judge.name(), ""
        self.client = judge.client("cloudformation")
        judge.later(self._remove)

    def deploy(self, resources: Json, *, template: Json | None = None, **options: Any) -> str:
        """Create or update the stack and return its status, or the code of a refusal."""
        call = self.client.update_stack if self.id else self.client.create_stack
        answer = refusal(call, **self._request(resources, template), **options)
        if answer != "accepted":
            return answer
        self.id = self._described()["StackId"]
        return self.settled()

    def plan(self, resources: Json, *, template: Json | None = None, **options: Any) -> str:
        """Create a change set for the stack and return its status, or the code of a refusal."""
        kind = {"ChangeSetName": "plan", "ChangeSetType": "UPDATE" if self.id else "CREATE"}
        answer = refusal(self.client.create_change_set, **{**self._request(resources, template), **kind, **options})
        return answer if answer != "accepted" else str(self.judge.until(lambda: _final(self.planned()["Status"])))

    def planned(self) -> Json:
        """Return the change set."""
        return dict(self.client.describe_change_set(StackName=self.name, ChangeSetName="plan"))

    def delete(self, **options: Any) -> str:
        """Delete the stack and return its status."""
        self.client.delete_stack(StackName=self.name, **options)
        return self.settled()

    def settled(self) -> str:
        """Return the status once no operation runs."""
        return str(self.judge.until(lambda: _final(self._described()["StackStatus"])))

    def outputs(self) -> dict[str, str]:
        """Return the outputs by name."""
        return {output["OutputKey"]: output["OutputValue"] for output in self._described().get("Outputs", ())}

    def events(self, of: str) -> list[Json]:
        """Return the events of a resource, or of the stack by its name, from the oldest."""
        pages = self.client.get_paginator("describe_stack_events").paginate(StackName=self.id)
        return [event for page in pages for event in page["StackEvents"] if event["LogicalResourceId"] == of][::-1]

    def story(self, of: str) -> list[str]:
        """Return the statuses of a resource, from the oldest, each once in a row."""
        return [status for status, _ in groupby(event["ResourceStatus"] for event in self.events(of))]

    def reason(self, of: str, status: str) -> str:
        """Return the reason of the last event with a status."""
        return str([event for event in self.events(of) if event["ResourceStatus"] == status][-1].get("ResourceStatusReason", ""))

    def _request(self, resources: Json, template: Json | None) -> Json:
        body = json.dumps({"Resources": resources, **(template or {})})
        return {"StackName": self.name, "TemplateBody": body, "Capabilities": ["CAPABILITY_NAMED_IAM"]}

    def _described(self) -> Json:
        return dict(self.client.describe_stacks(StackName=self.id or self.name)["Stacks"][0])

    def _remove(self) -> None:
        self.client.delete_stack(StackName=self.name)
        if self.id and self.settled() == "DELETE_FAILED":
            self.delete(DeletionMode="FORCE_DELETE_STACK")


class Thing(Stack):
    """A stack with a custom resource; each deployment gives the answers of its function, by the kind of request."""

    def custom(self, answers: Json, properties: Json | None = None) -> Json:
        """Return the resource."""
        given = {"ServiceToken": _answering(self.judge), "Answers": json.dumps(answers), **(properties or {})}
        return {"Type": "Custom::Thing", "Properties": given}

    def answer(self, answers: Json, **properties: Any) -> str:
        """Deploy the resource with these answers."""
        self.judge.later(self.judge.client("ssm").delete_parameter, Name=f"/{self.name}")
        return self.deploy({"Thing": self.custom(answers, properties)})

    def requests(self) -> list[str]:
        """Return the requests that the function received so far: the kind, and the ID of an Update and a Delete."""
        history = self.judge.client("ssm").get_parameter_history(Name=f"/{self.name}")["Parameters"]
        return [each["Value"] for each in history]


class ModelThing:
    """The same of the soak's model of CloudFormation."""

    def __init__(self) -> None:
        from tests.soak.cloudformation import CloudFormation  # noqa: PLC0415  imports the product, which is on tests' path only

        self._timeline = Timeline(ManualClock())
        self._model = CloudFormation(self._timeline, self._deliver)
        self._files = iter(("four", "six", "login"))
        self._answers: dict[str, Json] = {}

    def answer(self, answers: Json) -> None:
        """Deploy the resource with these answers."""
        file = next(self._files)
        self._answers[file] = answers
        self._model.deploy(file)
        self._settle()

    def delete(self) -> str:
        """Delete the stack and return its status."""
        self._model.destroy()
        self._settle()
        return "DELETE_COMPLETE" if self._model.phase == "idle" else self._model.phase

    def requests(self) -> list[str]:
        """Return the requests so far: the kind, and the ID of an Update and a Delete."""
        return [f"{sent.kind} {sent.raw.get('PhysicalResourceId', '')}".strip() for sent in self._model.requests.values()]

    def _deliver(self, raw: Json) -> None:
        answers = self._answers[self._model.requests[raw["RequestId"]].file]
        body = {"Status": "SUCCESS", "PhysicalResourceId": MADE, **raw, **answers.get(raw["RequestType"], {})}
        self._timeline.after(1, lambda: self._model.answer(raw["RequestId"], body))

    def _settle(self) -> None:
        self._timeline.pass_time(3600, until=lambda: self._model.current is None)


def thing(judge: Any) -> Any:
    """Return a new stack with a custom resource."""
    return Thing(judge) if isinstance(judge, Engine) else ModelThing()


def _final(status: str) -> str:
    return "" if status.endswith(("PENDING", "IN_PROGRESS")) else status


@cache
def _answering(judge: Engine) -> str:
    """Return the ARN of the function behind all custom resources."""
    return judge.function(FUNCTION)
