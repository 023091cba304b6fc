"""`cdk deploy` and `cdk destroy` of an EKS file with a real control plane."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from local_aws import durations, faults
from local_aws.clock import clock
from local_aws.faults import Fault
from local_aws.hyperpod import service_behaviour
from local_aws.testing import Client
from tests.cluster_files import PROJECT
from tests.kubernetes.running import until
from tests.kubernetes.walk.conftest import SPEED
from tests.kubernetes.walk.people import People
from tests.local.walk.conftest import WorkspaceIn
from tests.local.walk.leftovers import leftovers

pytestmark = [pytest.mark.cdk, pytest.mark.local]

KEPT = {"vpc", "subnet", "security group", "network interface", "file system", "log group"}
"""Kinds that remain: the retained file system with its network, and HyperPod's log group."""
ADMIN, RESEARCHER = "Admin", "Researcher"
NAMESPACE = "hyperpod-ns-research"


def file(admin: str, researcher: str) -> dict[str, Any]:
    """Return examples/clusters/eks.yaml with an administrator, a team with a quota, and Karpenter."""
    content: dict[str, Any] = yaml.safe_load((PROJECT / "examples/clusters/eks.yaml").read_text())
    quota = {"resources": [{"instance_type": "ml.g5.4xlarge", "count": 1}]}
    teams = [{"name": "research", "role_arns": [researcher], "quota": quota}]
    content["eks"] |= {"admins": [admin], "teams": teams, "autoscaling": "karpenter"}
    return content


def test_an_eks_file_is_deployed_used_recreated_and_destroyed(workspace_in: WorkspaceIn, client: Client, tmp_path: Path) -> None:
    workspace = workspace_in("us-west-2")
    people = People(client, "eks", tmp_path)
    content = file(people.add(ADMIN), people.add(RESEARCHER))
    (workspace.folder / "clusters/eks.yaml").write_text(yaml.safe_dump(content))
    clock.set_speed(SPEED)
    service_behaviour.choose({"guardduty": "automatic"})
    durations.change({"ec2.endpoint.delete": 1})  # the fast clock slows down while a function runs
    workspace.deploy("eks")

    assert_hyperpod_runs(client)
    [endpoint] = endpoints_of_guardduty(client)
    assert len(endpoint["SubnetIds"]) > 1, "it is also in a subnet of the control plane, which is deleted although the VPC stays"
    assert_nodes_are_labelled(people)
    assert_access(people)
    [quota] = client("sagemaker").list_compute_quotas()["ComputeQuotaSummaries"]
    assert quota["ComputeQuotaTarget"]["TeamName"] == "research"

    delete_by_hand(client)
    (workspace.folder / "clusters/eks.yaml").write_text(yaml.safe_dump({**content, "recreate": True}))
    workspace.deploy("eks")
    assert_quotas_follow(client, quota["ClusterArn"])

    faults.order(Fault("sagemaker:DeleteComputeQuota", kind="fail", message="tasks run"))
    workspace.destroy("eks")  # the deletion of the quota is repeated
    assert client("eks").list_clusters()["clusters"] == []
    assert client("sagemaker").list_compute_quotas()["ComputeQuotaSummaries"] == []
    assert endpoints_of_guardduty(client) == []
    left = leftovers(client)
    # The test created two roles; the service's belongs to the account.
    assert set(left.pop("role")) <= {ADMIN, RESEARCHER, "AWSServiceRoleForSageMakerHyperPod"}
    assert left.keys() <= KEPT


def endpoints_of_guardduty(client: Client) -> list[dict[str, Any]]:
    points = client("ec2").describe_vpc_endpoints()["VpcEndpoints"]
    return [each for each in points if each["ServiceName"].endswith("guardduty-data") and each["State"] != "deleted"]


def assert_hyperpod_runs(client: Client) -> None:
    [cluster] = client("sagemaker").list_clusters()["ClusterSummaries"]
    described = client("sagemaker").describe_cluster(ClusterName=cluster["ClusterName"])
    assert described["ClusterStatus"] == "InService"
    assert described["Orchestrator"]["Eks"]["ClusterArn"].endswith(":cluster/eks")
    addons = client("eks").list_addons(clusterName="eks")["addons"]
    assert {"vpc-cni", "coredns", "aws-fsx-csi-driver", "amazon-sagemaker-hyperpod-training-operator"} <= set(addons)


def delete_by_hand(client: Client) -> None:
    """Delete the HyperPod cluster, which leaves its quotas without a cluster."""
    service_behaviour.choose({"leftover_quotas": "orphan"})
    [cluster] = client("sagemaker").list_clusters()["ClusterSummaries"]
    client("sagemaker").delete_cluster(ClusterName=cluster["ClusterName"])
    until(lambda: not client("sagemaker").list_clusters()["ClusterSummaries"])
    service_behaviour.reset()


def assert_quotas_follow(client: Client, old_arn: str) -> None:
    """The recreated cluster has the only quota."""
    [cluster] = client("sagemaker").list_clusters()["ClusterSummaries"]
    [quota] = client("sagemaker").list_compute_quotas()["ComputeQuotaSummaries"]
    assert quota["ClusterArn"] == cluster["ClusterArn"] != old_arn


def assert_nodes_are_labelled(people: People) -> None:
    nodes = people.api(ADMIN).call("GET", "/api/v1/nodes").content["items"]
    labels = [node["metadata"]["labels"] for node in nodes]
    expected = {"node-health-status": "Schedulable", "instance-group-name": "workers"}
    assert len(nodes) == 2
    for name, value in expected.items():
        assert [each[f"sagemaker.amazonaws.com/{name}"] for each in labels] == [value] * 2
    assert [each["pool"] for each in labels] == ["training"] * 2


def assert_access(people: People) -> None:
    """The administrator reads what was applied; the team's role reaches its namespace only, with its claim bound."""
    admin, researcher = people.api(ADMIN), people.api(RESEARCHER)
    agents = admin.call("GET", "/apis/apps/v1/namespaces/aws-hyperpod/daemonsets/health-monitoring-agent")
    assert agents.status == 200
    [claim] = researcher.call("GET", f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims").content["items"]
    assert claim["metadata"]["name"].startswith("fsx-fs-")
    assert researcher.call("GET", f"/api/v1/namespaces/{NAMESPACE}/pods").status == 200
    for path in ("default/pods", "kube-system/secrets", "aws-hyperpod/pods"):
        assert researcher.call("GET", f"/api/v1/namespaces/{path}").status == 403


def test_the_objects_reach_a_private_api_server_that_people_do_not(
    workspace_in: WorkspaceIn, client: Client, tmp_path: Path
) -> None:
    workspace = workspace_in("us-west-2")
    people = People(client, "eks", tmp_path)
    content = file(people.add(ADMIN), people.add(RESEARCHER))
    content["eks"] |= {"endpoint_access": "private"}
    (workspace.folder / "clusters/eks.yaml").write_text(yaml.safe_dump(content))
    clock.set_speed(SPEED)
    workspace.cdk("deploy", "eks/Kubernetes", "--require-approval", "never", "--progress", "events")

    with pytest.raises(OSError, match=r"reset|EOF|closed"):
        people.api(ADMIN).call("GET", "/api/v1/nodes")
    client("eks").update_cluster_config(name="eks", resourcesVpcConfig={"endpointPublicAccess": True})
    client("eks").get_waiter("cluster_active").wait(name="eks", WaiterConfig={"Delay": 1, "MaxAttempts": 120})
    agents = people.api(ADMIN).call("GET", "/apis/apps/v1/namespaces/aws-hyperpod/daemonsets/health-monitoring-agent")
    assert agents.status == 200
    client("eks").update_cluster_config(name="eks", resourcesVpcConfig={"endpointPublicAccess": False})
    client("eks").get_waiter("cluster_active").wait(name="eks", WaiterConfig={"Delay": 1, "MaxAttempts": 120})

    workspace.destroy("eks")
    assert client("eks").list_clusters()["clusters"] == []
