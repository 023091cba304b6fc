"""The part of a report on task governance: the quotas of teams, and the scheduler config."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.pages import listed
from cli.parts import Parts
from cli.result import Block, Json, Table
from cluster_request.quotas import has_task_governance

DELETED, FAILED = "Deleted", "Failed"


@dataclass(frozen=True)
class Governance:
    """The quotas and the scheduler config as JSON."""

    quotas: Sequence[Json] = ()
    scheduler: Json | None = None
    deploy_command: str = ""

    @classmethod
    def read(cls, parts: Parts, deployment: Deployment, cluster_arn: str) -> "Governance":
        """Return those of the cluster, if its file uses task governance; parts that AWS refuses are missing."""
        eks = deployment.config.eks
        if eks is None or not has_task_governance(eks):
            return cls()
        reader = GovernanceReader(parts, deployment.client("sagemaker"), cluster_arn)
        quotas = parts.get("quotas", lambda: [_quota(each) for each in reader.found("ComputeQuota")]) or []
        schedulers = parts.get("scheduler config", lambda: list(map(_item, reader.found("ClusterSchedulerConfig")))) or []
        return cls(sorted(quotas, key=lambda each: str(each["team"])), next(iter(schedulers), None), deployment.deploy_command)

    def data(self) -> Json:
        """Return both for JSON."""
        return {"quotas": list(self.quotas), "scheduler_config": self.scheduler}

    def blocks(self) -> list[Block]:
        """Return the table of quotas, and a line on the scheduler config and on each failure."""
        rows = [(each["team"] or each["name"], _status(each), _reserved(each) or "-") for each in self.quotas]
        lines = [f"scheduler config: {self.scheduler['status']}"] if self.scheduler else []
        lines += map(str, self.troubles())
        return [*([Table(("TEAM", "QUOTA", "RESERVED"), rows)] if rows else []), *(["\n".join(lines)] if lines else [])]

    def troubles(self) -> list[CommandError]:
        """Return each failure with its fix."""
        named = [(f"quota of team {each['team'] or each['name']}", each) for each in self.quotas]
        named += [("scheduler config", self.scheduler)] if self.scheduler else []
        failed = [(name, each) for name, each in named if str(each["status"]).endswith(FAILED)]
        return [CommandError(f"{name} is {_reason(each)}", self._fix(each)) for name, each in failed]

    def _fix(self, item: Json) -> str:
        if item["status"].startswith("Delete"):
            return f"end the team's workloads, then run `{self.deploy_command}`"
        return f"correct what the reason names in the cluster file, then run `{self.deploy_command}`"


@dataclass(frozen=True)
class GovernanceReader:
    """Reads the items of the cluster; lists have no reason of a failure."""

    parts: Parts
    sagemaker: Any
    cluster_arn: str

    def found(self, resource: str) -> list[Json]:
        """Return all items with FailureReason, if any."""
        operation = {"ComputeQuota": "list_compute_quotas", "ClusterSchedulerConfig": "list_cluster_scheduler_configs"}[resource]
        summaries = listed(self.sagemaker, operation, f"{resource}Summaries", ClusterArn=self.cluster_arn)
        return [self._with_reason(resource, each) for each in summaries if each["Status"] != DELETED]

    def _with_reason(self, resource: str, summary: Json) -> Json:
        if not summary["Status"].endswith(FAILED):
            return summary
        described = self.parts.get(f"reason of {summary['Name']}", lambda: self.described(resource, summary)) or {}
        return {**summary, "FailureReason": described.get("FailureReason")}

    def described(self, resource: str, summary: Json) -> Json:
        """Return all members of an item; lists have those of quotas only."""
        operation = {"ComputeQuota": "describe_compute_quota", "ClusterSchedulerConfig": "describe_cluster_scheduler_config"}
        id_name = f"{resource}Id"
        found: Json = getattr(self.sagemaker, operation[resource])(**{id_name: summary[id_name]})
        return found


def _item(summary: Mapping[str, Any]) -> Json:
    return {"name": summary["Name"], "status": summary["Status"], "message": summary.get("FailureReason") or None}


def _quota(summary: Mapping[str, Any]) -> Json:
    resources = (summary.get("ComputeQuotaConfig") or {}).get("ComputeQuotaResources") or ()
    return {
        "team": (summary.get("ComputeQuotaTarget") or {}).get("TeamName"),
        **_item(summary),
        "is_enabled": summary.get("ActivationState") != "Disabled",
        "reserved": [_resource(each) for each in resources],
    }


def _resource(resource: Mapping[str, Any]) -> Json:
    partition = resource.get("AcceleratorPartition") or {}
    return {
        "instance_type": resource.get("InstanceType"),
        "count": resource.get("Count"),
        "accelerators": resource.get("Accelerators"),
        "vcpus": resource.get("VCpu"),
        "memory_gib": resource.get("MemoryInGiB"),
        "partition": partition.get("Type"),
        "partition_count": partition.get("Count"),
    }


def _reserved(quota: Json) -> str:
    """Return the reserved compute, such as `2 ml.p5.48xlarge, 4 accelerators of ml.g5.12xlarge`."""
    return ", ".join(text for each in quota["reserved"] for text in _amounts(each))


def _amounts(resource: Json) -> list[str]:
    whole = [f"{resource['count']} {resource['instance_type']}"] if resource["count"] else []
    amounts = (
        (resource["accelerators"], "accelerators"),
        (resource["vcpus"], "vCPUs"),
        (resource["memory_gib"], "GiB"),
        (resource["partition_count"], resource["partition"]),
    )
    parts = [f"{amount:g} {unit}" for amount, unit in amounts if amount]
    return whole + ([f"{' and '.join(parts)} of {resource['instance_type']}"] if parts else [])


def _status(quota: Json) -> str:
    return str(quota["status"]) if quota["is_enabled"] else f"{quota['status']}, disabled"


def _reason(item: Json) -> str:
    """Return the status with its reason; a semicolon separates a problem from its fix."""
    reason = str(item["message"] or "").replace("; ", ", ").rstrip(".")
    return f"{item['status']}: {reason}" if reason else str(item["status"])
