"""The real command against the embedded AWS: an account that has all, one that lacks much, and a caller who may ask nothing."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml
from botocore import loaders

from cli.__main__ import main
from local_aws import control
from local_aws.credentials import OWNER
from local_aws.server import EmbeddedAws
from local_aws.testing import ACCOUNT, REGION, Client
from tests import cluster_files
from tests.local.preflight.world import EXECUTION, World

pytestmark = pytest.mark.local
REFERENCE = yaml.safe_load(cluster_files.REFERENCE.read_text())
Preflight: TypeAlias = Callable[..., dict[str, Any]]
ONE_LOADER = cache(loaders.create_loader)


@pytest.fixture(autouse=True)
def models_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every session reads the models of services anew, which takes as long as all the rest of a test."""
    monkeypatch.setattr(loaders, "create_loader", ONE_LOADER)


@pytest.fixture
def world(client: Client) -> World:
    return World(client)


@pytest.fixture
def preflight(
    fresh_aws: EmbeddedAws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Preflight]:
    """Run the command on a cluster `mine`, as the account's owner or with other variables; its exit code and its JSON."""

    def run(file: dict[str, Any], **variables: str) -> dict[str, Any]:
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(file))
        keys = {"AWS_ACCESS_KEY_ID": OWNER.access_key, "AWS_SECRET_ACCESS_KEY": OWNER.secret_key, **variables}
        for name, value in {"AWS_ENDPOINT_URL": fresh_aws.endpoint, **keys}.items():
            monkeypatch.setenv(name, value)
        status = main(["preflight", "mine", "--clusters", str(tmp_path), "--output", "json"])
        printed = capsys.readouterr()
        assert printed.out, printed.err
        return {"status": status, "error": printed.err, **json.loads(printed.out)["data"]}

    yield run
    control.handle("DELETE", control.PREFIX + "quotas", b"")


def said(told: dict[str, Any], *outcomes: str) -> list[str]:
    """What the findings with these outcomes say."""
    return [f"{each['name']}: {each['message']}" for each in told["checks"] if each["result"] in outcomes]


def test_an_account_that_has_all_has_no_findings(world: World, preflight: Preflight) -> None:
    world.bootstrap()
    told = preflight(REFERENCE)
    assert said(told, "warning", "error") == []
    assert (told["status"], told["error"]) == (0, "")
    assert told["counts"]["ok"] > 20


def test_the_file_with_eks_passes_the_checks_of_eks(world: World, preflight: Preflight, client: Client) -> None:
    world.bootstrap()
    file = yaml.safe_load((cluster_files.EXAMPLES / "eks.yaml").read_text())
    client("iam").create_user(UserName="operator")
    admin = f"arn:aws:iam::{ACCOUNT}:user/operator"
    told = preflight({**file, "eks": {**file["eks"], "admins": [admin]}})
    assert said(told, "error") == []
    [warned] = said(told, "warning")
    assert warned.startswith("eks access: ")
    assert "is not in `eks.admins`" in warned
    results = {name: {each["result"] for each in told["checks"] if each["name"] == name} for name in ("eks quotas", "eks addons")}
    assert results == {"eks quotas": {"ok"}, "eks addons": {"ok"}}


def test_all_that_an_account_lacks_is_reported_at_once(world: World, preflight: Preflight, client: Client) -> None:
    world.make_bucket(f"sagemaker-mine-{ACCOUNT}-{REGION}")
    network = world.make_network("usw2-az1")
    ec2 = client("ec2")
    ec2.modify_vpc_attribute(VpcId=network.vpc, EnableDnsHostnames={"Value": False})
    itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": network.group}]}]
    ec2.revoke_security_group_egress(GroupId=network.group, IpPermissions=itself)
    control.handle("POST", control.PREFIX + "quotas", json.dumps({"ml.trn1.32xlarge for cluster usage": 2}).encode())
    plan = {"summer": {"type": "ml.p5.48xlarge", "zone": "usw2-az4", "count": 3}}
    control.handle("POST", control.PREFIX + "training-plans", json.dumps(plan).encode())
    head, login, work = REFERENCE["instance_groups"]
    arn = f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:training-plan/summer"
    groups = [head, login, {**work, "overrides": {"TrainingPlanArn": arn}}]
    section = {**network.section, "availability_zone_id": "usw2-az4"}
    storage = {"existing": {"file_system_id": "fs-0123456789abcdef0", "mount_name": "abcdefg"}}
    told = preflight({**REFERENCE, "network": section, "storage": storage, "instance_groups": groups})
    assert told["status"] == 1
    assert said(told, "error") == [
        f"bootstrap: {REGION} is not bootstrapped: no parameter /cdk-bootstrap/hnb659fds/version",
        f"permissions: no role arn:aws:iam::{ACCOUNT}:role/{EXECUTION}, which CloudFormation uses",
        f"script bucket: bucket sagemaker-mine-{ACCOUNT}-{REGION} already exists, and no stack of this file owns it",
        "training plans: summer has ml.p5.48xlarge, and group compute-nodes requests ml.trn1.32xlarge",
        "training plans: summer has 3 instances free for this cluster, and 4 are requested",
        f"vpc: {network.vpc} has enableDnsHostnames off, so nodes cannot resolve their file system",
        f"subnets: {network.subnet} is in usw2-az1, and `network.availability_zone_id` is usw2-az4",
        f"security groups: {network.group} does not let out all traffic to itself: EFA requires a rule with the group itself, "
        "not 0.0.0.0/0",
        "file systems: no file system fs-0123456789abcdef0 in us-west-2",
    ]
    assert all(each["fix"] for each in told["checks"] if each["result"] == "error")
    short = "instance quotas: ml.trn1.32xlarge for cluster usage: 2, 0 in use by others, 4 requested"
    assert said(told, "warning") == [f"{short} (AWS does not say whether a training plan's instances count)"]
    assert told["error"].strip().endswith("cluster mine cannot be deployed")


# Seconds that most runs need not spend: the unit tests hold every check to a denied answer.
@pytest.mark.long
def test_a_caller_who_may_ask_nothing_is_warned_of_each_question_and_nothing_else(world: World, preflight: Preflight) -> None:
    world.bootstrap()
    network = world.make_network()
    nobody = world.make_role("nobody")
    storage = {"existing": world.make_file_system(network)}
    told = preflight({**REFERENCE, "network": network.section, "storage": storage}, **world.session_of(nobody))
    assert (told["status"], said(told, "error")) == (0, [])
    warned = {each["name"] for each in told["checks"] if each["result"] == "warning"}
    assert {"zone", "bootstrap", "permissions", "service roles", "instance types", "instance quotas"} <= warned
    assert {"network quotas", "vpc", "internet", "subnets", "security groups", "file systems"} <= warned
    assert all("no permission to check this" in each for each in said(told, "warning"))


def test_the_policy_in_the_documentation_is_all_that_a_preflight_needs(world: World, preflight: Preflight) -> None:
    world.bootstrap()
    network = world.make_network()
    world.make_bucket("datasets")
    page = (cluster_files.PROJECT / "docs" / "reference" / "preflight.md").read_text()
    policy = json.loads(page.partition("```json\n")[2].partition("```")[0])
    taking_on = {"Effect": "Allow", "Action": "sts:AssumeRole", "Resource": f"arn:aws:iam::{ACCOUNT}:role/cdk-*"}
    session = world.session_of(world.make_role("reader", *policy["Statement"], taking_on))
    storage = {
        "existing": world.make_file_system(network),
        "data_bucket": {"existing": "datasets"},
        "data_repository_associations": [{"path": "/data"}],
    }
    told = preflight({**REFERENCE, "cluster_name": "big", "network": network.section, "storage": storage}, **session)
    assert said(told, "warning", "error") == []
    assert {"vpc", "internet", "subnets", "security groups", "file systems", "buckets", "permissions", "cluster name"} <= {
        each["name"] for each in told["checks"] if each["result"] == "ok"
    }
