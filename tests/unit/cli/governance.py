"""Quotas and scheduler configs as SageMaker lists them, and a file that uses them."""

from typing import Any

from config.model import ClusterConfig
from tests.unit.cli.fake_eks import eks_config
from tests.unit.cli.fake_stack import Json

P5 = {"InstanceType": "ml.p5.48xlarge", "Count": 2}


def governed() -> ClusterConfig:
    """A file whose team has a quota."""
    resources = [{"instance_type": "ml.p5.48xlarge", "count": 2}]
    groups = [{"name": "workers", "instance_type": "ml.p5.48xlarge", "instance_count": 2}]
    eks = {"version": "1.34", "teams": [{"name": "research", "quota": {"resources": resources}}]}
    return eks_config(eks=eks, instance_groups=groups)


def quota(team: str, status: str = "Created", reason: str = "", resources: tuple[Json, ...] = (P5,), **more: Any) -> Json:
    """A quota in ListComputeQuotas, with the reason that only DescribeComputeQuota has."""
    return {
        "ComputeQuotaId": f"id-of-{team}",
        "Name": f"draft-{team}",
        "Status": status,
        "ComputeQuotaConfig": {"ComputeQuotaResources": list(resources)},
        "ComputeQuotaTarget": {"TeamName": team},
        "ActivationState": "Enabled",
        **({"FailureReason": reason} if reason else {}),
        **more,
    }


def scheduler(status: str = "Created", reason: str = "") -> Json:
    """A scheduler config in ListClusterSchedulerConfigs, with the reason that only DescribeClusterSchedulerConfig has."""
    failure = {"FailureReason": reason} if reason else {}
    return {"ClusterSchedulerConfigId": "id-of-config", "Name": "draft", "Status": status, **failure}
