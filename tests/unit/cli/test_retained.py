"""What `hpod retained` prints can be put into the file as it is."""

from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import yaml
from botocore import xform_name
from botocore.exceptions import ClientError

from cli.deployment import Deployment
from cli.errors import CommandError
from cli.render import fitted
from cli.retained import retained
from config.model import ClusterConfig
from tests.unit.cli.fake_account import FakeAccount
from tests.unit.cli.fake_eks import FakeEks, FakeSession
from validation.load import parse_cluster

FILE = """
region: us-west-2
network:
  availability_zone_id: usw2-az4
  vpc_cidr: 10.8.0.0/16
  public_subnet_cidr: 10.8.0.0/24
storage:
  lustre: {version: "2.15"}
  data_bucket: {removal: retain}
  data_repository_associations:
    - {path: /data, auto_export: [NEW]}
instance_groups:
  - {name: head, role: controller, instance_type: ml.c5.xlarge, instance_count: 1}
"""


@pytest.fixture
def account() -> FakeAccount:
    return FakeAccount()


def parsed(text: str) -> ClusterConfig:
    config = parse_cluster(text.encode(), "draft")
    assert isinstance(config, ClusterConfig), "\n".join(map(str, config))
    return config


def printed(account: FakeAccount, file: str = FILE) -> str:
    session: Any = account
    return str(retained(Deployment(parsed(file), session)))


def pasted(text: str, file: str = FILE) -> ClusterConfig:
    """The cluster of a file into which the sections are put in place of its own."""
    return parsed(yaml.safe_dump({**yaml.safe_load(file), **yaml.safe_load(text)}))


def test_the_sections_are_whole_and_make_a_valid_file(account: FakeAccount) -> None:
    account.add_file_system(1)
    account.add_bucket(1)
    config = pasted(printed(account))
    before = parsed(FILE)
    assert config.network.model_copy(update={"existing": None}) == before.network
    assert config.network.existing is not None
    assert config.network.existing.node_subnet_ids == ("subnet-00000001",)
    assert config.storage.lustre is None
    assert config.storage.existing is not None
    assert config.storage.existing.mount_name == "mount1"
    assert config.storage.data_bucket.existing == "draft-storage-1"
    assert config.storage.data_repository_associations == before.storage.data_repository_associations


def test_a_network_that_was_kept_whole_is_not_opened_again(account: FakeAccount) -> None:
    account.add_file_system(1)
    account.public_subnets = ["subnet-90000001"]
    existing = pasted(printed(account)).network.existing
    assert existing is not None
    assert (existing.internet_access, existing.node_subnet_ids) == ("existing", ("subnet-00000001",))


def test_without_a_file_system_the_public_subnet_is_no_subnet_of_nodes(account: FakeAccount) -> None:
    account.public_subnets, account.node_subnets = ["subnet-90000001"], ["subnet-00000001"]
    existing = pasted(printed(account)).network.existing
    assert existing is not None
    assert existing.node_subnet_ids == ("subnet-00000001",)
    assert existing.vpc_id == "vpc-00000001"


def test_gateways_that_were_kept_in_a_network_of_others_are_used_again(account: FakeAccount) -> None:
    existing = "existing: {vpc_id: vpc-00000001, node_subnet_ids: [subnet-00000001], security_group_id: sg-00000001"
    file = FILE.replace("storage:", f"  {existing}, internet_access: create}}\nstorage:")
    assert printed(account, file) == "# cdk destroy kept nothing of cluster draft"
    account.public_subnets = ["subnet-90000001"]
    before, after = parsed(file).network.existing, pasted(printed(account, file), file).network.existing
    assert before is not None
    assert after is not None
    assert after.internet_access == "existing"
    assert after.model_copy(update={"internet_access": before.internet_access}) == before


def test_a_file_that_uses_what_was_left_gets_the_same_sections_again(account: FakeAccount) -> None:
    account.add_file_system(1)
    account.add_bucket(1)
    text = printed(account)
    again = yaml.safe_dump({**yaml.safe_load(FILE), **yaml.safe_load(text)})
    account.add_file_system(2)
    account.add_bucket(2)
    assert yaml.safe_load(printed(account, again)) == yaml.safe_load(text), "the file names its own, and newer ones are no reason"


def test_without_a_file_system_the_file_has_a_new_one_and_the_old_bucket(account: FakeAccount) -> None:
    account.add_bucket(1)
    text = printed(account)
    assert list(yaml.safe_load(text)) == ["storage"]
    assert pasted(text).storage.lustre == parsed(FILE).storage.lustre


NAMED = "not created by the deployment; to delete the VPC, delete them first:"
UNKNOWN = "cannot list what others put into the VPC:"
DENIED = ClientError({"Error": {"Code": "UnauthorizedOperation", "Message": "no"}}, "DescribeVpcPeeringConnections")


@pytest.mark.parametrize(
    ("is_deployed", "peerings", "lines"),
    [
        (False, [], [NAMED, "  security group sg-1 (web) of account 123456789012 is in vpc-1"]),
        (True, [], [NAMED, "  security group sg-1 (web) of account 123456789012 is in vpc-1"]),
        (False, DENIED, [UNKNOWN, f"  {DENIED}"]),
    ],
)
def test_what_others_put_into_the_vpc_is_listed_as_comments_or_the_denied_call_is(
    account: FakeAccount, monkeypatch: pytest.MonkeyPatch, peerings: Any, lines: list[str], *, is_deployed: bool
) -> None:
    if is_deployed:
        account.stacks["draft-Network"] = {"VpcId": "vpc-1"}
    account.add_bucket(1)
    monkeypatch.setattr(account, "describe_vpcs", lambda **_: {"Vpcs": [{"VpcId": "vpc-1"}]})
    groups = [{"GroupId": "sg-1", "GroupName": "sg", "Description": "web", "OwnerId": "123456789012"}]
    monkeypatch.setattr(account, "describe_security_groups", lambda **_: {"SecurityGroups": groups})
    gateways = ("VpcEndpoints", "NatGateways", "VpnGateways", "EgressOnlyInternetGateways")
    for kind in (*gateways, "NetworkAcls", "NetworkInterfaces"):
        monkeypatch.setattr(account, f"describe_{xform_name(kind)}", lambda kind=kind, **_: {kind: []}, raising=False)
    asked = Mock(side_effect=[peerings if peerings else {"VpcPeeringConnections": []}])
    monkeypatch.setattr(account, "describe_vpc_peering_connections", asked, raising=False)
    text = printed(account)
    assert (yaml.safe_load(text) is None) == is_deployed, "the sections do not depend on it"
    assert text.splitlines()[-2:] == [f"# {line}" for line in lines]


def test_older_ones_are_listed_as_comments(account: FakeAccount) -> None:
    for number in (2, 3, 1):
        account.add_file_system(number)
        account.add_bucket(number)
    account.add_file_system(4, cluster="another")
    text = printed(account)
    assert yaml.safe_load(text)["storage"]["existing"]["file_system_id"] == "fs-00000003"
    assert text.splitlines()[-6:] == [
        "# older file systems of cluster draft, with data of earlier deployments; delete those that you do not need:",
        "#   fs-00000002: created 2026-01-02 00:00 UTC, 1200 GiB, in subnet-00000002",
        "#   fs-00000001: created 2026-01-01 00:00 UTC, 1200 GiB, in subnet-00000001",
        "# older data buckets of cluster draft, with data of earlier deployments; delete those that you do not need:",
        "#   draft-storage-2",
        "#   draft-storage-1",
    ]


def test_nothing_left_is_said(account: FakeAccount) -> None:
    account.add_file_system(1, cluster="another")
    account.add_bucket(1, cluster="another")
    assert printed(account) == "# cdk destroy kept nothing of cluster draft"


def test_of_a_deployed_cluster_only_what_earlier_deployments_left_is_listed(account: FakeAccount) -> None:
    account.add_file_system(2)
    account.stacks = {"draft-Storage": {"FileSystemId": "fs-00000002"}}
    assert printed(account).startswith("# cluster draft is deployed; ")
    account.add_file_system(1)
    assert [line.split(":")[0] for line in printed(account).splitlines()[1:]] == ["#   fs-00000001"]


def test_while_the_stacks_are_made_their_file_system_is_not_called_left_over(account: FakeAccount) -> None:
    account.add_file_system(1)
    account.stacks = {"draft-Network": {"VpcId": "vpc-00000001"}}
    assert "fs-" not in printed(account)


@pytest.mark.parametrize(
    ("folder", "command", "option"),
    [
        ("clusters", "cdk deploy 'draft/*'", ""),
        ("examples/clusters", "cdk deploy -c clusters=examples/clusters 'draft/*'", " --clusters examples/clusters"),
        ("my files", "cdk deploy -c 'clusters=my files' 'draft/*'", " --clusters 'my files'"),
    ],
)
def test_the_remedy_deploys_from_the_same_folder(account: FakeAccount, folder: str, command: str, option: str) -> None:
    session: Any = account
    deployment = Deployment(parsed(FILE), session, Path(folder))
    assert deployment.deploy_command == command
    with pytest.raises(CommandError) as error:
        deployment.cluster()
    problem = f"cluster 'draft' is not deployed in us-west-2; run `{command}`"
    assert str(error.value) == f"{problem}; after `cdk destroy`, first run `./hpod retained draft{option}`"


EKS_FILE = """
region: us-west-2
network: {availability_zone_id: usw2-az4}
storage: {lustre: {storage_capacity_gib: 1200}}
eks: {version: "1.34", removal: retain, teams: [{name: research}]}
instance_groups:
  - {name: workers, instance_type: ml.g5.8xlarge, instance_count: 1}
"""


def test_a_file_with_subnets_for_the_control_plane_keeps_them(account: FakeAccount) -> None:
    account.add_file_system(1)
    existing = "existing: {vpc_id: vpc-00000001, node_subnet_ids: [subnet-00000001], security_group_id: sg-00000001}"
    file = EKS_FILE.replace("usw2-az4}", f"usw2-az4, {existing}}}")
    file = file.replace("eks: {", "eks: {control_plane_subnet_ids: [subnet-0000000a, subnet-0000000b], ")
    session: Any = FakeSession(FakeEks(), account)
    text = str(retained(Deployment(parsed(file), session)))
    assert "eks" not in yaml.safe_load(text)


@pytest.mark.parametrize("owner", ["draft", "other"])
def test_an_eks_cluster_is_reused_with_its_subnets_if_the_deployment_created_it(owner: str) -> None:
    account, eks = FakeAccount(), FakeEks()
    account.add_file_system(1)
    account.node_subnets = ["subnet-10000001", "subnet-20000001"]
    subnets = {"resourcesVpcConfig": {"subnetIds": account.node_subnets}}
    eks.clusters["draft"] |= {**subnets, "tags": {"hyperpod-cdk:cluster": owner}} if owner == "draft" else {"tags": {}}
    session: Any = FakeSession(eks, account)
    text = str(retained(Deployment(parsed(EKS_FILE), session)))
    found = yaml.safe_load(text)
    if owner == "other":
        written = yaml.safe_load(EKS_FILE)["eks"]
        assert found["eks"] == {**written, "control_plane_cidrs": ["10.0.1.0/28", "10.0.1.16/28"]}, "their subnets are deleted"
        assert pasted(text, EKS_FILE).creates_eks_cluster
        return
    assert "control_plane_subnet_ids" not in text
    assert found["eks"] == {"existing": {"name": "draft"}, "teams": [{"name": "research"}]}
    assert found["network"]["existing"]["node_subnet_ids"] == ["subnet-00000001"]
    assert "replace the whole of network, storage and eks with this" in text
    assert pasted(text, EKS_FILE).creates_eks_cluster is False


def test_in_a_narrow_terminal_the_text_about_a_deployed_cluster_is_still_yaml(account: FakeAccount) -> None:
    account.stacks["draft-Cluster"] = {}
    session: Any = account
    [block] = retained(Deployment(parsed(FILE), session)).text
    lines = fitted(block, 40)
    assert [line[:2] for line in lines] == ["# "]
    assert yaml.safe_load("\n".join(lines)) is None
