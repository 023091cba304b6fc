"""What a user does with stacks of an account."""

import json
from collections.abc import Callable
from typing import Any

from tests.simulator.machinery.account import until

Json = dict[str, Any]


class Stacks:
    """A user's view of the stacks; a call that names none is about the one with this name."""

    name = "stack"
    cloudformation: Any
    until: Callable[[Callable[[], Any]], Any] = staticmethod(until)

    def deploy(self, resources: Json, name: str = "", **more: Any) -> str:
        """Create or update a stack; its status when it has settled."""
        call = self.cloudformation.update_stack if self.is_made(name) else self.cloudformation.create_stack
        call(**self._request(resources, name, **more))
        return self.settled(name)

    def change_set(self, resources: Json, name: str = "", **more: Any) -> Json:
        """A change set for these resources, described with its values."""
        kind = {"ChangeSetName": "plan", "ChangeSetType": "UPDATE" if self.is_made(name) else "CREATE"}
        made = self.cloudformation.create_change_set(**self._request(resources, name, **more), **kind)["Id"]
        look = self.cloudformation.describe_change_set
        self.until(lambda: _is_final(look(ChangeSetName=made)["Status"]))
        return dict(look(ChangeSetName=made, IncludePropertyValues=True))

    def delete(self, name: str = "", **more: Any) -> str:
        """Delete a stack; its status when it has settled."""
        stack_id = self.stack(name)["StackId"]
        self.cloudformation.delete_stack(StackName=name or self.name, **more)
        return self.settled(stack_id)

    def settled(self, name: str = "") -> str:
        return str(self.until(lambda: _is_final((stack := self.stack(name))["StackStatus"]) and stack)["StackStatus"])

    def stack(self, name: str = "") -> Json:
        return dict(self.cloudformation.describe_stacks(StackName=name or self.name)["Stacks"][0])

    def is_made(self, name: str = "") -> bool:
        """Whether the stack is there, and is not only planned."""
        found: dict[str, str] = {
            stack["StackName"]: stack["StackStatus"] for stack in self.cloudformation.describe_stacks()["Stacks"]
        }
        return found.get(name or self.name, "REVIEW_IN_PROGRESS") != "REVIEW_IN_PROGRESS"

    def outputs(self, name: str = "") -> dict[str, str]:
        return {one["OutputKey"]: one["OutputValue"] for one in self.stack(name)["Outputs"]}

    def events(self, name: str = "") -> list[tuple[str, str]]:
        """Every event so far, the oldest first: of what, and which status."""
        return [(event["LogicalResourceId"], event["ResourceStatus"]) for event in self.all_events(name)]

    def all_events(self, name: str = "") -> list[Json]:
        return list(reversed(self.cloudformation.describe_stack_events(StackName=name or self.name)["StackEvents"]))

    def reason(self, logical_id: str, status: str, name: str = "") -> str:
        """The reason of the last event of this resource and status."""
        fitting = [e for e in self.all_events(name) if (e["LogicalResourceId"], e["ResourceStatus"]) == (logical_id, status)]
        return str(fitting[-1].get("ResourceStatusReason", ""))

    def _request(self, resources: Json, name: str, *, template: Json | None = None, **more: Any) -> Json:
        body = json.dumps({"Resources": resources, **(template or {})})
        return {"StackName": name or self.name, "TemplateBody": body, "Capabilities": ["CAPABILITY_NAMED_IAM"], **more}


def _is_final(status: str) -> bool:
    return not status.endswith(("PENDING", "IN_PROGRESS"))
