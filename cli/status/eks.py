"""The part of a report on the EKS cluster: its version and state, and add-ons that are not ACTIVE."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cli.aws_errors import unless_absent
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.pages import listed
from cli.parts import Parts
from cli.result import Json

ACTIVE, CHANGING = "ACTIVE", ("CREATING", "UPDATING", "DELETING", "PENDING")


@dataclass(frozen=True)
class EksState:
    """The cluster and its add-ons as JSON; None if unknown."""

    cluster: Json | None
    addons: Sequence[Json] | None
    deploy_command: str

    @classmethod
    def read(cls, parts: Parts, deployment: Deployment) -> "EksState":
        """Return the state; parts that AWS refuses are missing."""
        eks, name = deployment.client("eks"), deployment.eks_name
        cluster = parts.get("EKS cluster", lambda: _cluster(eks, name))
        addons = parts.get("add-ons", lambda: _addons(eks, name))
        return cls(cluster, addons, deployment.deploy_command)

    def data(self) -> Json | None:
        """Return the state for JSON; None if all is unknown."""
        if self.cluster is None and self.addons is None:
            return None
        unknown: Json = {**dict.fromkeys(("name", "version", "status")), "issues": []}
        return {**(self.cluster or unknown), "addons": None if self.addons is None else list(self.addons)}

    def lines(self) -> list[str]:
        """Return a line on the cluster, one on the add-ons, and one on each that is not ACTIVE."""
        found = [f"EKS: {self.cluster['version']}, {self.cluster['status']}"] if self.cluster else []
        if self.addons:
            active = sum(each["status"] == ACTIVE for each in self.addons)
            some = "" if active == len(self.addons) else f" of {len(self.addons)}"
            found.append(f"add-ons: {active}{some} {ACTIVE}")
        return [*found, *map(str, self.troubles()), *self._changing()]

    def troubles(self) -> list[CommandError]:
        """Return each problem with its fix."""
        clusters = [self.cluster] if self.cluster else []
        found = [(f"EKS cluster is {_state(each)}", "correct what the message names") for each in clusters if _has_problem(each)]
        addons = [each for each in self.addons or () if _has_problem(each)]
        found += [(f"add-on {each['name']} is {_state(each)}", self._fix(each["status"])) for each in addons]
        return [CommandError(message, fix) for message, fix in found]

    def _changing(self) -> list[str]:
        changing = (each for each in self.addons or () if each["status"] in CHANGING and not _has_problem(each))
        return [f"add-on {each['name']} is {each['status']}" for each in changing]

    def _fix(self, status: str) -> str:
        if status.endswith("FAILED"):
            return f"correct what the message names, then run `{self.deploy_command}`"
        return "correct what the message names, and look at the add-on's pods with kubectl"


def _has_problem(item: Json) -> bool:
    return bool(item["issues"]) or item["status"] not in (ACTIVE, *CHANGING)


def _state(item: Json) -> str:
    """Return the status with its issues; a semicolon separates a problem from its fix."""
    issues = [f"{each['code']}: {each['message'] or ''}".rstrip(": .") for each in item["issues"]]
    return ": ".join([item["status"], ", ".join(issues).replace("; ", ", ")]) if issues else str(item["status"])


def _cluster(eks: Any, name: str) -> Json | None:
    """Return the cluster; None if it does not exist, which the line on Kubernetes says."""
    return _health(name, "version", unless_absent(lambda: eks.describe_cluster(name=name)["cluster"]))


def _addons(eks: Any, cluster: str) -> list[Json] | None:
    """Return all add-ons with their health, without those that were deleted meanwhile; None if the cluster does not exist."""
    names = unless_absent(lambda: list(listed(eks, "list_addons", "addons", clusterName=cluster)))
    return None if names is None else list(filter(None, (_addon(eks, cluster, name) for name in names)))


def _addon(eks: Any, cluster: str, name: str) -> Json | None:
    found = unless_absent(lambda: eks.describe_addon(clusterName=cluster, addonName=name)["addon"])
    return _health(name, "addonVersion", found)


def _health(name: str, version: str, found: Json | None) -> Json | None:
    """Return the version, the status and the issues of a description; None without one."""
    if found is None:
        return None
    issues = (found.get("health") or {}).get("issues") or ()
    problems = [{"code": each.get("code") or "", "message": each.get("message") or None} for each in issues]
    return {"name": name, "version": found.get(version), "status": found["status"], "issues": problems}
