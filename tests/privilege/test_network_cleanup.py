"""The function that acts before the VPC is deleted needs each of its rights, and says which one it lacks."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster_request.request import merged
from local_aws import durations
from local_aws.guardduty import cover
from local_aws.network_interfaces import Place
from local_aws.testing import ACCOUNT, REGION, Client, aws, client, fresh_aws
from tests.cluster_files import REFERENCE
from tests.privilege.deployment import Deployment
from tests.privilege.rights import rights_of, without

__all__ = ["aws", "client", "fresh_aws"]

pytestmark = [pytest.mark.local, pytest.mark.long]

STACK = "reference-Network"


@pytest.fixture
def deployment(client: Client, tmp_path: Path) -> Deployment:
    """Deploy a network that is deleted with its stack."""
    durations.change({"ec2.endpoint.delete": 1})  # the fast clock slows down while a function runs
    (tmp_path / "clusters").mkdir()
    changes: dict[str, Any] = {"storage": {"lustre": None, "data_repository_associations": []}}
    file = merged(yaml.safe_load(REFERENCE.read_text()), changes)
    (tmp_path / "clusters" / "reference.yaml").write_text(yaml.safe_dump(file))
    return Deployment(client, tmp_path / "clusters", tmp_path / "out", ["Network"])


def deleted(client: Client) -> str:
    """Delete the stack and return why that failed; empty if it did not."""
    cloudformation = client("cloudformation")
    [stack] = cloudformation.describe_stacks(StackName=STACK)["Stacks"]
    cloudformation.delete_stack(StackName=STACK)
    waiter = cloudformation.get_waiter("stack_delete_complete")
    try:
        waiter.wait(StackName=stack["StackId"], WaiterConfig={"Delay": 0.2, "MaxAttempts": 300})
    except Exception:  # noqa: BLE001  the events say what failed
        events: list[dict[str, Any]] = cloudformation.describe_stack_events(StackName=stack["StackId"])["StackEvents"]
        ours = (each for each in events if each["ResourceType"].startswith("Custom::"))
        return next(str(each["ResourceStatusReason"]) for each in ours if each["ResourceStatus"] == "DELETE_FAILED")
    return ""


def test_the_deletion_of_the_vpc_names_each_right_that_it_lacks_and_succeeds_with_all(
    client: Client, deployment: Deployment
) -> None:
    role = deployment.only("NetworkCleanupFunctionAccess", "Role", "Network")
    subnet = Place(ACCOUNT, REGION, deployment.only("NetworkNodeNetworkNodeSubnet", "Subnet", "Network"), ())
    rights = [each for each in rights_of(client("iam"), "Cleanup", role) if not each.action.startswith("logs:")]
    assert len(rights) == 13
    for right in rights:
        if "Delete" in right.action:  # the others are needed without GuardDuty, too, for whose endpoint the function waits
            cover(subnet)
        with without(client("iam"), right):
            assert right.action in deleted(client)
    assert deleted(client) == ""
    assert [each for each in client("ec2").describe_vpcs()["Vpcs"] if not each["IsDefault"]] == []
