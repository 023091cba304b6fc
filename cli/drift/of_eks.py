"""Differences of a cluster with EKS: quotas and scheduler config, and objects in Kubernetes that no longer exist."""

import json
from collections.abc import Iterator

import cli.resource_code  # noqa: F401  finds the functions' code
from cli.deployment import Deployment
from cli.desired_cluster import template_properties
from cli.drift.of_cluster import Difference
from cli.errors import UnreachableError
from cli.kubernetes.client import OperatorClient
from cli.parts import Parts
from cli.result import Json
from cli.status.quotas import FAILED, GovernanceReader
from cluster_request.property_values import named_properties, property_value
from cluster_request.quotas import compute_quotas, has_task_governance, scheduler_config
from kubernetes_resource.inventory import COLLECTION, ENTRIES
from kubernetes_resource.objects import MANAGER, Reference
from quota_resource.differences import differences

QUOTA, SCHEDULER = "ComputeQuota", "ClusterSchedulerConfig"
QUOTAS = "Custom::HyperPodComputeQuotas"
SET = "a deployment sets it: the file changed quotas or `scheduling` since the last deployment"
KEEP = "a deployment keeps it until the file changes a quota, `scheduling` or a tag; then it sets all of them"
NAME = f"{MANAGER}-hyperpod"
KEEP_OBJECT = "a deployment creates it again only when it changes objects in Kubernetes"


def quota_differences(deployment: Deployment, parts: Parts, cluster_arn: str) -> list[Difference]:
    """Return the quotas and the scheduler config that are missing, failed or different; those of others are not compared."""
    eks = deployment.config.eks
    if eks is None or not has_task_governance(eks):
        return []
    action = SET if _has_changed(deployment) else KEEP
    reader = GovernanceReader(parts, deployment.client("sagemaker"), cluster_arn)
    return [
        *(parts.get("quotas", lambda: list(_quotas(deployment, reader, action))) or ()),
        *(parts.get("scheduler config", lambda: list(_scheduler(deployment, reader, action))) or ()),
    ]


def _quotas(deployment: Deployment, reader: GovernanceReader, action: str) -> Iterator[Difference]:
    desired = {each["ComputeQuotaTarget"]["TeamName"]: each for each in compute_quotas(deployment.config)}
    if not desired:
        return
    found = {(each.get("ComputeQuotaTarget") or {}).get("TeamName"): each for each in reader.found(QUOTA)}
    for team, quota in desired.items():
        yield from _compared(f"quota of team {team}", "quota", quota, found.get(team), action)


def _scheduler(deployment: Deployment, reader: GovernanceReader, action: str) -> Iterator[Difference]:
    desired = scheduler_config(deployment.config)
    if desired is None:
        return
    summary = next(iter(reader.found(SCHEDULER)), None)
    # ListClusterSchedulerConfigs has no settings, unlike ListComputeQuotas.
    observed = {**summary, **reader.described(SCHEDULER, summary)} if summary else None
    yield from _compared("scheduler config", "config", desired, observed, action)


def _compared(place: str, word: str, desired: Json, observed: Json | None, action: str) -> Iterator[Difference]:
    if observed is None:
        yield Difference(place, word, desired["Name"], None, action)
        return
    if str(observed["Status"]).endswith(FAILED):
        yield Difference(place, "Status", "Created", observed["Status"], action)
    for field, file, actual in differences(desired, observed):
        yield Difference(place, field, file, actual, action)


def _has_changed(deployment: Deployment) -> bool:
    """Return whether the file has other quotas, or another scheduler config, than the stack's template."""
    deployed = template_properties(deployment, "Addons", QUOTAS) or {}
    quotas = ((each["ComputeQuotaTarget"]["TeamName"], each) for each in compute_quotas(deployment.config))
    scheduler = scheduler_config(deployment.config)
    desired = {
        **named_properties("Quota", quotas),
        **({} if scheduler is None else {"SchedulerConfig": property_value(scheduler)}),
    }
    return desired != {name: value for name, value in deployed.items() if name.startswith("Quota") or name == "SchedulerConfig"}


def object_differences(deployment: Deployment) -> list[Difference]:
    """Return the objects of the inventory that do not exist."""
    with deployment.kubernetes() as client:
        return list(_missing(client))


def _missing(client: OperatorClient) -> Iterator[Difference]:
    inventory = client.get(f"{COLLECTION}/{NAME}")
    if inventory is None:
        yield Difference(f"ConfigMap kube-system/{NAME}", "object", "exists", None, KEEP_OBJECT)
        return
    for reference in _references(inventory.get("data") or {}):
        if not client.exists(reference):
            yield Difference(str(reference), "object", "exists", None, KEEP_OBJECT)


def _references(data: Json) -> list[Reference]:
    try:
        return [Reference(**{name: str(entry[name]) for name in Reference._fields}) for entry in json.loads(data[ENTRIES])]
    except (KeyError, TypeError, ValueError) as error:
        raise UnreachableError(f"ConfigMap kube-system/{NAME}: data.{ENTRIES} is not a list of objects", "restore it") from error
