"""The real entry, step and responder code of Custom::HyperPodComputeQuotas before quotas in memory."""

import json
from typing import Any

from cluster_request.property_values import named_properties
from cluster_resource.event import LOGICAL_ID_TAG, STACK_ID_TAG
from quota_resource import step
from tests.unit.cluster_resource.calls_world import CallsWorld
from tests.unit.cluster_resource.world import STACK
from tests.unit.quota_resource.fake_quotas import CLUSTER, FakeQuotas

Json = dict[str, Any]
LOGICAL_ID = "ComputeQuotas"
ID = "compute-quotas/abcdefghij12"
OURS = {STACK_ID_TAG: STACK, LOGICAL_ID_TAG: LOGICAL_ID}


class QuotaWorld(CallsWorld):
    """The functions, with a cluster."""

    def __init__(self) -> None:
        super().__init__()
        self.quotas = FakeQuotas(self.clock)
        self.first_call = 0
        """The number of the step's first call."""

    @property
    def service(self) -> FakeQuotas:
        return self.quotas

    def request(self, kind: str, items: list[Json], old: list[Json] | None = None, **more: Any) -> Json:
        """Return an event of CloudFormation."""
        before = more.pop("before", {})
        raw = self.event(kind, given(items, **more), None if old is None else given(old, **{**more, **before}))
        physical_id = {} if kind == "Create" else {"PhysicalResourceId": ID}
        return {**raw, "ResourceType": "Custom::HyperPodComputeQuotas", "LogicalResourceId": LOGICAL_ID, **physical_id}

    def ours(self, cluster: str = CLUSTER) -> dict[str, Json]:
        """Return the settings of our quotas, by team."""
        all_quotas = [each for each in self.quotas.all.values() if each.resource == "ComputeQuota"]
        found = [quota for quota in all_quotas if quota.cluster == cluster and OURS.items() <= quota.tags.items()]
        assert len({quota.team for quota in found}) == len(found), "a team has two quotas"
        return {quota.team: quota.settings for quota in found}

    def _step(self, payload: Json) -> Json:
        self.first_call = len(self.quotas.calls)
        return step.handle(payload, step.Host(lambda: self.quotas, self.seconds), lambda: self.executions, self.send)


def quota(team: str, count: int = 2, *, weight: int = 10, **config: Any) -> Json:
    """Return a desired quota."""
    resources = [{"InstanceType": "ml.p5.48xlarge", "Count": count}, {"InstanceType": "ml.c5.xlarge", "VCpu": 4.5}]
    settings = {"ComputeQuotaResources": resources, "ResourceSharingConfig": {"Strategy": "Lend"}, **config}
    target = {"TeamName": team, "FairShareWeight": weight}
    return {"Name": f"reference-{team}", "ComputeQuotaConfig": settings, "ComputeQuotaTarget": target}


def scheduler(weight: int = 80, **config: Any) -> str:
    """Return a desired scheduler config."""
    classes = {"PriorityClasses": [{"Name": "training", "Weight": weight}], "FairShare": "Enabled"}
    return json.dumps({"Name": "reference", "SchedulerConfig": {**classes, **config}})


def given(quotas: list[Json], **more: Any) -> Json:
    """Return the properties for quotas."""
    named = named_properties("Quota", ((each["ComputeQuotaTarget"]["TeamName"], each) for each in quotas))
    return {"ClusterArn": CLUSTER, **named, **more}


def settings(quotas: list[Json]) -> dict[str, Json]:
    """Return what the service must hold for quotas, by team."""
    return {
        each["ComputeQuotaTarget"]["TeamName"]: {key: value for key, value in each.items() if key != "Name"} for each in quotas
    }
