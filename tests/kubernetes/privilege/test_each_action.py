"""Remove each action that only an EKS file needs from its policy in turn, and check that a scenario fails without it.

The account is that of an EKS file with a real control plane. UNTESTED lists the other actions and why.
"""

from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from cluster_request.request import merged
from local_aws import durations, server
from local_aws.clock import clock
from local_aws.faults import Fault, order
from local_aws.server import EmbeddedAws
from local_aws.testing import SPEED, aws, clients_of
from tests.cluster_files import EXAMPLES
from tests.kubernetes.privilege.account import EksAccount
from tests.privilege.account import NODES
from tests.privilege.deployment import EKS_STACKS, Deployment
from tests.privilege.proofs import Scenario, prove

__all__ = ["aws"]

QUOTA = {"resources": [{"instance_type": "ml.g5.4xlarge", "count": 1}]}
CHANGES = {
    "storage": {"lustre": None},  # not used by the roles under test
    "eks": {
        "teams": [{"name": "research", "quota": QUOTA}],
        "scheduling": {"priority_classes": [{"name": "batch", "weight": 50}]},
    },
    "tags": {"team": "research"},
}
REASONS = {
    **dict.fromkeys(
        (
            "ec2:AssignPrivateIpAddresses",
            "ec2:AttachNetworkInterface",
            "ec2:ModifyNetworkInterfaceAttribute",
            "ec2:UnassignPrivateIpAddresses",
            "sagemaker:AttachClusterNodeNetworkInterface",
        ),
        "only the VPC CNI gives pods addresses of the VPC",
    ),
    **dict.fromkeys(
        ("ec2:DescribeInstanceTypes", "ec2:DescribeInstances", "ec2:DescribeTags", "fsx:DescribeFileSystems"),
        "only programs of AWS on nodes, such as the VPC CNI and the EFA device plugin, read these",
    ),
    **dict.fromkeys(
        (
            "ecr:BatchCheckLayerAvailability",
            "ecr:BatchGetImage",
            "ecr:GetAuthorizationToken",
            "ecr:GetDownloadUrlForLayer",
        ),
        "only containerd on nodes of AWS pulls images from ECR",
    ),
    "cloudwatch:DescribeAlarms": "only a software update with alarms needs it",
    "eks-auth:AssumeRoleForPodIdentity": "only the Pod Identity agent on nodes of AWS calls it",
}
UNTESTED = {(NODES, action): reason for action, reason in REASONS.items()}


def cluster_life(account: EksAccount) -> None:
    """Create the cluster, whose nodes and service get access entries, and delete it."""
    account.done(account.cluster.create())
    account.done(account.cluster.delete(account.name))


def objects(account: EksAccount) -> None:
    """Apply the objects again."""
    properties = account.objects.properties
    account.done(account.objects.update(f"{properties['ClusterName']}/{properties['Name']}", properties, properties))


def degraded_addons(account: EksAccount) -> None:
    """Check the add-ons, which lack nodes."""
    account.failed(account.addon_health.create(), "InsufficientNumberOfReplicas")


def quotas(account: EksAccount) -> None:
    """Create the quotas and the scheduler config, change their settings and tags, and delete them."""
    old = account.quota_properties()
    new = {**deepcopy(old), "Tags": [{"Key": "cost-center", "Value": "42"}]}
    for quota in (value for name, value in new.items() if name.startswith("Quota")):
        quota["ComputeQuotaTarget"]["FairShareWeight"] = "7"
    new["SchedulerConfig"]["SchedulerConfig"]["PriorityClasses"][0]["Weight"] = "60"
    physical_id = f"compute-quotas/{old['ClusterArn'].rpartition('/')[2]}"
    account.done(account.quotas.create(old))
    account.done(account.quotas.update(physical_id, new, old))
    account.done(account.quotas.delete(physical_id, new))
    assert account.quota_items() == []


def failing_quota(account: EksAccount) -> None:
    """Let a quota fail; the response has HyperPod's reason."""
    order(Fault("sagemaker:CreateComputeQuota", kind="fail", message="no capacity is left"))
    account.failed(account.quotas.create(account.quota_properties()), "no capacity is left")


SCENARIOS = (
    Scenario("objects", objects, with_cluster=True),
    Scenario("quotas", quotas, with_cluster=True),
    Scenario("failing quota", failing_quota, with_cluster=True),
    Scenario("degraded add-ons", degraded_addons, with_cluster=False),
    Scenario("a cluster's life", cluster_life, with_cluster=False),
)


@pytest.fixture
def account(aws: EmbeddedAws, tmp_path: Path) -> Iterator[EksAccount]:
    """Return the account with the deployed stacks."""
    server.reset()
    clock.set_speed(SPEED)
    durations.change({"eks.create": 1})
    folder = tmp_path / "clusters"
    folder.mkdir()
    file = merged(yaml.safe_load((EXAMPLES / "eks.yaml").read_text()), CHANGES)
    (folder / "eks.yaml").write_text(yaml.safe_dump(file, sort_keys=False))
    client = clients_of(aws)
    yield EksAccount(client, Deployment(client, folder, tmp_path / "out", EKS_STACKS))
    durations.reset()
    server.reset()


def test_without_each_action_a_scenario_fails(account: EksAccount, capsys: pytest.CaptureFixture[str]) -> None:
    prove(account, SCENARIOS, UNTESTED, capsys)
