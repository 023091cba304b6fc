"""One cluster of the fake control plane: its groups, nodes and their changes over time."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from tests.unit.cluster_resource.manual_clock import ManualClock

Json = dict[str, Any]
GROUP_KINDS = ("InstanceGroups", "RestrictedInstanceGroups")
ENDING = ("RollingBack", "Failed", "Deleting")


def over(kept: Json, new: Json) -> Json:
    """``new`` with the members that it leaves out, at each depth of a structure; lists and maps with a value replace others."""
    below = {name: over(kept[name], value) for name, value in new.items() if name.endswith("Config") and name in kept}
    return {**kept, **new, **below}


class FakeCluster:
    """A cluster with a status, and a list of what happens at which time."""

    def __init__(self, clock: ManualClock, arn: str, request: Json) -> None:
        self._clock = clock
        self.arn = arn
        self.name: str = request["ClusterName"]
        self.created = clock.now
        self.tags: dict[str, str] = {tag["Key"]: tag["Value"] for tag in request.get("Tags", [])}
        self.settings = {k: v for k, v in request.items() if k not in ("ClusterName", "Tags", *GROUP_KINDS)}
        self.groups: dict[str, Json] = {
            group["InstanceGroupName"]: {**group, "kind": kind} for kind in GROUP_KINDS for group in request.get(kind, [])
        }
        self.running: dict[str, int] = dict.fromkeys(self.groups, 0)
        self.node_message = ""
        self.failing: dict[str, str] = {}
        self.launched: dict[tuple[str, int], datetime] = {}
        self.events: list[Json] = []
        self.waiting_status = "Pending"
        self.keeps_members = True
        """Whether a group keeps what an update leaves out, which AWS does not document."""
        self.status = "Creating"
        self.failure = ""
        self.is_gone = False
        self.revision = 0
        self._agenda: list[tuple[datetime, Callable[[], None]]] = []

    @property
    def is_continuous(self) -> bool:
        """Whether it is InService before its nodes, and stays so."""
        return self.settings.get("NodeProvisioningMode") == "Continuous"

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        """Let ``what`` happen in ``seconds``."""
        self._agenda.append((self._clock.after(seconds), what))

    def pass_time(self) -> None:
        """Let everything happen that is due."""
        due = [item for item in self._agenda if item[0] <= self._clock.now]
        self._agenda = [item for item in self._agenda if item not in due]
        for _, what in sorted(due, key=lambda item: item[0]):
            what()

    def become(self, status: str, failure: str = "") -> None:
        """Change the status, and the message where there is one."""
        self.status = status
        self.failure = failure or self.failure

    def in_service(self) -> None:
        """Every node runs."""
        self.running = {name: group["InstanceCount"] for name, group in self.groups.items()}
        self.become("InService")

    def start_controller(self) -> None:
        """A continuous cluster is InService once its controller runs."""
        if self.status not in ENDING:
            heads = [name for name, group in self.groups.items() if group.get("SlurmConfig", {}).get("NodeType") == "Controller"]
            self.running |= {name: self.groups[name]["InstanceCount"] for name in heads}
            self.become("InService")

    def arrive(self, capacity: int | None) -> None:
        """Every node runs that is to be had; nodes that run stay."""
        if self.status not in ENDING:
            for name, group in self.groups.items():
                most = group["InstanceCount"] if capacity is None else max(capacity, self.running.get(name, 0))
                self.running[name] = min(group["InstanceCount"], most)

    def change_in_service(
        self, seconds: float, undo: Callable[[], None], failure: str, capacity: Callable[[], int | None]
    ) -> None:
        """End a continuous cluster's update, unless a newer one replaced it; only its events tell of a rollback.

        Only nodes that do not run yet can fail, up to a group's `MinInstanceCount`: HyperPod tries again to start the others.
        """
        revision = self.revision

        def end() -> None:
            if self.revision != revision or self.status in ENDING:
                return
            if failure and any(_least(group) > self.running.get(name, 0) for name, group in self.groups.items()):
                undo()
                self.record("Cluster update failed", {"EventMetadata": {"Cluster": {"FailureMessage": failure}}})
            else:
                self.arrive(capacity())

        self.later(seconds, end)

    def record(self, description: str, about: Json) -> None:
        """Add an event of an error."""
        number = len(self.events)
        shown = {"EventId": f"event-{number}", "ClusterArn": self.arn, "ClusterName": self.name, "EventTime": self._clock.now}
        self.events.append(
            {**shown, "ResourceType": "Cluster", "EventLevel": "Error", "Description": description, "EventDetails": about}
        )

    def fail_node(self, group: str, index: int, message: str) -> str:
        """Let the start of a node fail; its instance."""
        node = self._node(group, index, "Failure")
        self.failing[node["InstanceId"]] = message
        self.record("Instance did not start", {"EventMetadata": {"Instance": {"FailureMessage": message}}})
        self.events[-1] |= {"ResourceType": "Instance", "InstanceGroupName": group, "InstanceId": node["InstanceId"]}
        return str(node["InstanceId"])

    def go(self) -> None:
        """Be no more."""
        self.is_gone = True

    def update(self, request: Json) -> Callable[[], None]:
        """Take over what UpdateCluster asks for; gives what undoes it."""
        before = {name: dict(group) for name, group in self.groups.items()}
        ran = dict(self.running)
        self.revision += 1
        for name in request.get("InstanceGroupsToDelete", []):
            del self.groups[name]
            self.running.pop(name, None)
        for kind in GROUP_KINDS:
            for group in request.get(kind, []):
                kept = self.groups.get(group["InstanceGroupName"], {}) if self.keeps_members else {}
                self.groups[group["InstanceGroupName"]] = over(kept, {**group, "kind": kind})
                self.running.setdefault(group["InstanceGroupName"], 0)
        self.settings.update({k: v for k, v in request.items() if k in self.settings or k == "NodeRecovery"})

        def undo() -> None:
            self.groups = before
            self.running = {name: min(group["InstanceCount"], ran.get(name, 0)) for name, group in before.items()}

        return undo

    def describe(self) -> Json:
        """DescribeCluster's output, with the fields that it renames."""
        groups: dict[str, list[Json]] = {kind: [] for kind in GROUP_KINDS}
        for name, group in self.groups.items():
            shown = {k: v for k, v in group.items() if k not in ("InstanceCount", "MinInstanceCount", "ImageId", "kind")}
            counts = {"TargetCount": group["InstanceCount"], "CurrentCount": self.running.get(name, 0), "Status": self.status}
            image = {"CurrentImageId": group.get("ImageId", "ami-0123456789abcdef0")}
            least = {"MinCount": group["MinInstanceCount"]} if "MinInstanceCount" in group else {}
            groups[group["kind"]].append({**shown, **counts, **least, **image})
        described = {
            "ClusterArn": self.arn,
            "ClusterName": self.name,
            "ClusterStatus": self.status,
            "CreationTime": self.created,
            **self.settings,
        }
        return {**described, **{kind: found for kind, found in groups.items() if found}, "FailureMessage": self.failure}

    def nodes(self) -> list[Json]:
        """ListClusterNodes' output, all pages."""
        found = []
        for name, group in self.groups.items():
            for index in range(group["InstanceCount"]):
                status = "Running" if index < self.running.get(name, 0) else self.waiting_status
                found.append(self._node(name, index, status))
        return found

    def _node(self, group: str, index: int, status: str) -> Json:
        instance = f"i-{index:017x}"
        message = self.failing.get(instance, "") if status != "Running" else ""
        details = {"Status": "Failure" if self.status == "Failed" else status, "Message": message or self.node_message}
        launched = {"LaunchTime": self.launched[group, index]} if (group, index) in self.launched else {}
        return {"InstanceGroupName": group, "InstanceId": instance, "InstanceStatus": details, **launched}


def _least(group: Json) -> int:
    return int(group.get("MinInstanceCount") or group["InstanceCount"])
