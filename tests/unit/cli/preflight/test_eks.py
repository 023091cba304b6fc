"""The EKS cluster, its version, subnets and add-ons, and who has access."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml

from cli.cost.charges import charges_of
from cli.preflight.check import CheckResult
from cli.preflight.control_plane import control_plane
from cli.preflight.deploy_actions import actions
from cli.preflight.eks_addons import access, eks_addons
from cli.preflight.eks_cluster import eks_cluster, kubernetes_version
from cli.preflight.quotas import eks_quotas
from cluster_request.eks_addons import versions
from tests.unit.cli.fake_stack import Json
from tests.unit.cli.preflight.fake_aws import ACCOUNT, DENIED, FILE, asked, only, outcomes, parsed, refused, stacks

ADMIN = f"arn:aws:iam::{ACCOUNT}:role/dev"
NEW = f"""
region: us-west-2
network: {{availability_zone_id: usw2-az4}}
eks: {{version: "1.34", admins: ["{ADMIN}"]}}
instance_groups:
  - {{name: workers, instance_type: ml.g5.8xlarge, instance_count: 2}}
"""
OWN_VPC = """
region: us-west-2
network:
  availability_zone_id: usw2-az4
  existing: {vpc_id: vpc-00000001, node_subnet_ids: [subnet-00000001], security_group_id: sg-00000001}
eks: {EKS}
instance_groups:
  - {name: workers, instance_type: ml.g5.8xlarge, instance_count: 2}
"""
EXISTING = OWN_VPC.replace("{EKS}", "{existing: {name: ml}}")
SUBNETS = OWN_VPC.replace("{EKS}", '{version: "1.34", control_plane_subnet_ids: [subnet-0000000a, subnet-0000000b]}')
ARN = f"arn:aws:eks:us-west-2:{ACCOUNT}:cluster/ml"
ABSENT = refused("ResourceNotFoundException")
DEPLOYED = stacks(Kubernetes={"EksClusterName": "draft"})
CHECKS = (kubernetes_version, eks_quotas, eks_cluster, control_plane, eks_addons, access)


VPC = {
    "vpcId": "vpc-00000001",
    "securityGroupIds": ["sg-00000001"],
    "clusterSecurityGroupId": "sg-00000002",
    "endpointPublicAccess": True,
    "endpointPrivateAccess": False,
    "publicAccessCidrs": ["0.0.0.0/0"],
}


def cluster(vpc: Json | None = None, **changes: Any) -> Json:
    """EKS's answer about an existing cluster, with these changes of its VPC's settings and of itself."""
    facts = {"name": "ml", "arn": ARN, "status": "ACTIVE", "version": "1.33", "resourcesVpcConfig": VPC | (vpc or {})}
    return {"cluster": {**facts, "accessConfig": {"authenticationMode": "API"}, **changes}}


def offered(status: str = "standard-support", end: datetime = datetime(2127, 1, 2, tzinfo=UTC)) -> dict[str, Any]:
    found = [{"clusterVersion": name, "status": status, "endOfStandardSupportDate": end} for name in ("1.9", "1.34", "1.33")]
    return {"eks.describe_cluster_versions": {"clusterVersions": found}}


COSTS = "extended support costs 0.60 USD instead of 0.10 USD per hour"


@pytest.mark.parametrize("check", CHECKS)
def test_a_slurm_cluster_needs_no_check_of_eks(check: Any) -> None:
    assert (only(asked(check, {})).outcome, only(asked(check, {})).message) == ("skipped", "the cluster uses Slurm")


@pytest.mark.parametrize(
    ("aws", "outcome", "message"),
    [
        (offered(), "ok", "Kubernetes 1.34 is in standard support until 2127-01-02"),
        (offered("extended-support"), "warning", f"standard support of Kubernetes 1.34 ended: {COSTS}"),
        (
            *(offered(end=datetime(2026, 3, 23, tzinfo=UTC)), "warning"),
            f"standard support of Kubernetes 1.34 ended on 2026-03-23: {COSTS}",
        ),
    ],
)
def test_a_version_in_extended_support_is_a_warning_with_its_price(aws: Any, outcome: str, message: str) -> None:
    found = only(asked(kubernetes_version, aws, NEW))
    assert (found.outcome, found.message) == (outcome, message)


def test_a_version_that_eks_does_not_offer_names_those_that_it_offers() -> None:
    found = only(asked(kubernetes_version, offered(), NEW.replace("1.34", "1.32")))
    assert (found.outcome, found.fix) == ("error", "set `eks.version` to one of: 1.9, 1.33, 1.34")


@pytest.mark.parametrize(
    ("deployed", "fix"),
    [("1.32", 'set `eks.version` to "1.33", deploy, and continue from there'), ("1.35", 'set `eks.version` to "1.35" or newer')],
)
def test_an_upgrade_is_to_the_next_version(deployed: str, fix: str) -> None:
    aws = {**offered(), "cloudformation.describe_stacks": DEPLOYED, "eks.describe_cluster": cluster(version=deployed)}
    assert [each.fix for each in asked(kubernetes_version, aws, NEW)] == ["", fix]
    aws["eks.describe_cluster"] = cluster(version="1.33")
    assert outcomes(asked(kubernetes_version, aws, NEW)) == ["ok"]


def test_the_quota_of_eks_clusters_counts_for_a_new_one() -> None:
    quota = {"QuotaName": "Clusters", "QuotaCode": "L-1194D53C", "Value": 2.0}
    aws: dict[str, Any] = {
        "eks.list_clusters": {"clusters": ["a", "b"]},
        "service-quotas.list_service_quotas": {"Quotas": [quota]},
    }
    assert outcomes(asked(eks_quotas, aws, NEW)) == ["error"]
    aws["eks.list_clusters"] = {"clusters": ["a"]}
    assert outcomes(asked(eks_quotas, aws, NEW)) == ["ok"]
    assert outcomes(asked(eks_quotas, {"cloudformation.describe_stacks": DEPLOYED}, NEW)) == ["skipped"]
    assert outcomes(asked(eks_quotas, {}, EXISTING)) == ["skipped"]


def new(**aws: Any) -> Any:
    """The result for a new EKS cluster."""
    absent = {"eks.describe_cluster": ABSENT, "logs.describe_log_groups": {"logGroups": []}}
    return only(asked(eks_cluster, {**absent, **{name.replace("__", "."): answer for name, answer in aws.items()}}, NEW))


def test_the_name_of_a_new_eks_cluster_is_free() -> None:
    assert new().message == "the name draft is free"
    assert new(eks__describe_cluster=cluster()).outcome == "error"


def test_the_log_group_of_a_deleted_eks_cluster_is_named_with_the_command_that_deletes_it() -> None:
    group = "/aws/eks/draft/cluster"
    assert new(logs__describe_log_groups={"logGroups": [{"logGroupName": f"{group}-2"}]}).outcome == "ok"
    found = new(logs__describe_log_groups={"logGroups": [{"logGroupName": group}]})
    assert found.message == f"log group {group} exists, so the deployment cannot create it"
    assert found.fix == f"`aws logs delete-log-group --log-group-name {group} --region us-west-2`"


def subnet(name: str, zone: str, free: int = 11, vpc: str = "vpc-00000001") -> Json:
    return {"SubnetId": name, "AvailabilityZoneId": zone, "AvailableIpAddressCount": free, "VpcId": vpc}


KEY, OTHER_KEY = (f"arn:aws:kms:us-west-2:{ACCOUNT}:key/{number}1234567-89ab-cdef-0123-456789abcdef" for number in (0, 1))
RECREATE = "run `cdk destroy draft/Addons draft/Cluster draft/Kubernetes`, then deploy"


def kept(file: str, *, key: str | None = None, zones: tuple[str, ...] = ("usw2-az4", "usw2-az1")) -> Any:
    """The result for an EKS cluster of the deployment with this key and control plane."""
    encryption = {"EncryptionConfig": [{"Provider": {"KeyArn": key}, "Resources": ["secrets"]}]} if key else {}
    template = {"Resources": {"Cluster": {"Type": "AWS::EKS::Cluster", "Properties": encryption}}}
    own = [subnet(f"subnet-{zone}", zone) for zone in zones]
    other = [subnet("subnet-0000000a", "usw2-az1"), subnet("subnet-0000000b", "usw2-az2")]
    aws = {
        "cloudformation.describe_stacks": DEPLOYED,
        "cloudformation.get_template": {"TemplateBody": json.dumps(template)},
        "eks.describe_cluster": cluster(resourcesVpcConfig={"subnetIds": [each["SubnetId"] for each in own]}),
        "ec2.describe_subnets": lambda SubnetIds: {  # noqa: N803  as boto3 spells it
            "Subnets": [each for each in (*own, *other) if each["SubnetId"] in SubnetIds]
        },
    }
    return only(asked(eks_cluster, aws, file))


def with_key(key: str) -> str:
    return NEW.replace("eks: {", f'eks: {{secrets_key_arn: "{key}", ')


def test_the_eks_cluster_of_the_deployment_keeps_its_key_and_zones() -> None:
    assert kept(NEW).message == "EKS cluster draft is the deployment's"
    assert kept(with_key(KEY), key=KEY).outcome == "ok"
    assert kept(SUBNETS, zones=("usw2-az2", "usw2-az1")).outcome == "ok"


IN_ZONES = "the control plane is in usw2-az1 and usw2-az4, and EKS cannot move it to"


@pytest.mark.parametrize(
    ("file", "key", "message", "fix"),
    [
        (
            *(with_key(KEY), None, "CloudFormation cannot add `eks.secrets_key_arn` to an EKS cluster"),
            "undo the change, and add the key with `aws eks associate-encryption-config`",
        ),
        (NEW, KEY, f"the EKS cluster encrypts secrets with {KEY}, and EKS cannot change or remove its key", "undo the change"),
        (
            *(with_key(OTHER_KEY), KEY),
            *(f"the EKS cluster encrypts secrets with {KEY}, and EKS cannot change or remove its key", "undo the change"),
        ),
        (
            *(NEW.replace("eks: {", "eks: {control_plane_zone_ids: [usw2-az2, usw2-az3], "), None),
            *(f"{IN_ZONES} usw2-az2 and usw2-az3", "undo the change"),
        ),
        (SUBNETS, None, f"{IN_ZONES} usw2-az1 and usw2-az2", "undo the change"),
    ],
    ids=["a key is added", "a key is removed", "a key is changed", "other zones", "subnets in other zones"],
)
def test_another_key_or_zone_requires_another_eks_cluster(file: str, key: str | None, message: str, fix: str) -> None:
    found = kept(file, key=key)
    assert (found.outcome, found.message, found.fix) == ("error", message, f"{fix}, or {RECREATE}")


def test_a_stack_without_its_eks_cluster_changes_nothing() -> None:
    gone = {"cloudformation.describe_stacks": DEPLOYED, "eks.describe_cluster": ABSENT}
    assert outcomes(asked(eks_cluster, gone, NEW)) == ["ok"]


def existing(found: Any, *clusters: Json) -> list[str]:
    """The messages about an existing EKS cluster, beside these HyperPod clusters."""
    known = {each["ClusterName"]: each for each in clusters}
    aws = {
        "eks.describe_cluster": found,
        "sagemaker.list_clusters": {"ClusterSummaries": list(known.values())},
        "sagemaker.describe_cluster": lambda ClusterName: known[ClusterName],  # noqa: N803  as boto3 spells it
    }
    return [f"{each.outcome}: {each.message}" for each in asked(eks_cluster, aws, EXISTING)]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (cluster(), "ok: EKS cluster ml (Kubernetes 1.33) is ACTIVE and uses access entries"),
        (ABSENT, "error: no EKS cluster ml in us-west-2"),
        (cluster(status="UPDATING"), "error: EKS cluster ml is UPDATING"),
        (cluster(version="1.36"), "warning: EKS cluster ml has Kubernetes 1.36, HyperPod supports up to 1.35"),
        (
            cluster(accessConfig={"authenticationMode": "CONFIG_MAP"}),
            "error: EKS cluster ml has authentication mode CONFIG_MAP, ",
        ),
        (cluster({"vpcId": "vpc-2"}), "error: EKS cluster ml is in vpc-2"),
        (cluster({"securityGroupIds": []}), "warning: sg-00000001 is not attached to EKS cluster ml"),
    ],
)
def test_an_existing_eks_cluster_is_as_hyperpod_requires_it(found: Any, message: str) -> None:
    [line] = existing(found)
    assert line.startswith(message)


@pytest.mark.parametrize(
    ("access", "endpoint", "fix"),
    [
        ("", {"endpointPublicAccess": False}, "set `eks.endpoint_access: private`"),
        (
            "",
            {"publicAccessCidrs": ["192.0.2.0/24", "198.51.100.7/32"]},
            "set `eks.public_access_cidrs: [192.0.2.0/24, 198.51.100.7/32]`",
        ),
        (
            ", endpoint_access: private",
            {},
            "`aws eks update-cluster-config --name ml --resources-vpc-config endpointPrivateAccess=true`",
        ),
        (", endpoint_access: private", {"endpointPrivateAccess": True}, None),
        (", public_access_cidrs: [192.0.2.0/24]", {"publicAccessCidrs": ["192.0.2.0/24"], "endpointPrivateAccess": True}, None),
    ],
)
def test_the_deployment_reaches_the_api_server_from_where_the_file_says(access: str, endpoint: Json, fix: str | None) -> None:
    file = OWN_VPC.replace("{EKS}", f"{{existing: {{name: ml}}{access}}}")
    aws = {
        "eks.describe_cluster": cluster(endpoint),
        "sagemaker.list_clusters": {"ClusterSummaries": []},
    }
    found = only(asked(eks_cluster, aws, file))
    assert (found.outcome, found.fix or None) == ("error" if fix else "ok", fix)


def test_an_eks_cluster_has_one_hyperpod_cluster() -> None:
    other = {"ClusterName": "other", "Orchestrator": {"Eks": {"ClusterArn": ARN}}}
    slurm = {"ClusterName": "slurm", "Orchestrator": {"Slurm": {}}}
    assert existing(cluster(), slurm)[0].startswith("ok")
    assert existing(cluster(), slurm, other) == ["error: HyperPod cluster other uses EKS cluster ml, which can have only one"]


@pytest.mark.parametrize(
    ("found", "messages"),
    [
        ([subnet("a", "usw2-az1"), subnet("b", "usw2-az2")], ["2 subnets in 2 zones have free addresses"]),
        ([subnet("a", "usw2-az1"), subnet("b", "usw2-az1")], ["all subnets are in usw2-az1"]),
        ([subnet("a", "usw2-az1"), subnet("b", "usw1-az2")], ["b is in usw1-az2, where EKS has no control planes"]),
        ([subnet("a", "usw2-az1", 5), subnet("b", "usw2-az2")], ["a has 5 free addresses, and EKS requires 6"]),
        ([subnet("a", "usw2-az1"), subnet("b", "usw2-az2", vpc="vpc-2")], ["b is in vpc-2, not in vpc-00000001"]),
    ],
)
def test_subnets_of_the_control_plane_are_in_two_zones_with_addresses(found: list[Json], messages: list[str]) -> None:
    aws = {"ec2.describe_subnets": {"Subnets": found}}
    assert [each.message for each in asked(control_plane, aws, SUBNETS)] == messages


def test_a_missing_subnet_of_the_control_plane_is_an_error() -> None:
    gone = refused("InvalidSubnetID.NotFound", "The subnet ID 'subnet-0000000a' does not exist")
    assert outcomes(asked(control_plane, {"ec2.describe_subnets": gone}, SUBNETS)) == ["error"]


NEW_SUBNETS = OWN_VPC.replace("{EKS}", '{version: "1.34", control_plane_cidrs: [10.4.1.0/28, 10.4.1.16/28]}')


@pytest.mark.parametrize(
    ("stacks_of", "range_of_vpc", "range_of_subnet", "message"),
    [
        (stacks(), "10.4.0.0/16", "10.4.0.0/24", "10.4.1.0/28, 10.4.1.16/28 are free in vpc-00000001"),
        (stacks(), "10.4.1.0/28", "10.4.0.0/24", "`control_plane_cidrs` 10.4.1.16/28 is outside of vpc-00000001"),
        (stacks(), "10.4.0.0/16", "10.4.1.0/28", "`control_plane_cidrs` 10.4.1.0/28 overlaps with subnet-1 (10.4.1.0/28)"),
        (DEPLOYED, "10.4.0.0/16", "10.4.1.0/28", "10.4.1.0/28, 10.4.1.16/28 are free in vpc-00000001"),
    ],
)
def test_new_subnets_of_the_control_plane_fit_into_an_existing_vpc(
    stacks_of: Callable[..., Any], range_of_vpc: str, range_of_subnet: str, message: str
) -> None:
    aws = {
        "cloudformation.describe_stacks": stacks_of,
        "ec2.describe_vpcs": {"Vpcs": [{"VpcId": "vpc-00000001", "CidrBlock": range_of_vpc}]},
        "ec2.describe_subnets": {"Subnets": [{"SubnetId": "subnet-1", "CidrBlock": range_of_subnet}]},
    }
    assert only(asked(control_plane, aws, NEW_SUBNETS)).message == message


def available(withdrawn: str = "", **facts: Any) -> dict[str, Any]:
    """EKS's answers about add-ons: the deployment's version, and an older one."""

    def describe(addonName: str, kubernetesVersion: str) -> Json:  # noqa: N803  as boto3 spells it
        installed = versions()[kubernetesVersion][addonName]
        listed = ["v0.0.2-eksbuild.1", *([] if addonName == withdrawn else [installed])]
        return {"addons": [{"addonVersions": [{"addonVersion": each, **facts} for each in listed]}]}

    return {"eks.describe_addon_versions": describe}


def test_the_versions_of_add_ons_are_offered() -> None:
    found = asked(eks_addons, available(), NEW)
    assert {each.outcome for each in found} == {"ok"}
    assert f"vpc-cni {versions()['1.34']['vpc-cni']}" in {each.message for each in found}
    assert [each.message for each in found if "takes no role itself" in each.message] != []
    with_role = asked(eks_addons, available(requiresIamPermissions=True), NEW)
    assert [each.message for each in with_role if "takes no role itself" in each.message] == []


@pytest.mark.fault(92)
def test_a_withdrawn_version_of_an_add_on_is_an_error_that_names_the_newest() -> None:
    [found] = [each for each in asked(eks_addons, available("cert-manager"), NEW) if each.outcome != "ok"]
    version = versions()["1.34"]["cert-manager"]
    assert (found.outcome, found.message) == (
        "error",
        f"EKS does not offer cert-manager {version} for Kubernetes 1.34: AWS withdrew it, or it never existed",
    )
    assert found.fix == "set `eks.addons.cert-manager.version` to `v0.0.2-eksbuild.1`, the newest"


COREDNS = {
    "$ref": "#/definitions/Coredns",
    "definitions": {
        "Coredns": {
            "additionalProperties": False,
            "properties": {"tolerations": {"type": "array"}, "autoScaling": {"$ref": "#/definitions/AutoScaling"}},
        },
        "AutoScaling": {"additionalProperties": False, "properties": {"enabled": {}}},
    },
}


def settings_of_coredns(configuration: Json, schema: str) -> list[CheckResult]:
    """Return the findings that are not ok for these settings of coredns."""
    file = yaml.safe_load(NEW)
    file["eks"]["addons"] = {"coredns": {"configuration": configuration}}
    aws = {**available(), "eks.describe_addon_configuration": {"configurationSchema": schema}}
    return [each for each in asked(eks_addons, aws, yaml.safe_dump(file)) if each.outcome != "ok"]


def test_settings_that_the_schema_of_an_add_on_lacks_are_errors() -> None:
    schema = json.dumps(COREDNS)
    assert settings_of_coredns({"tolerations": [], "autoScaling": {"enabled": True}}, schema) == []
    found = settings_of_coredns({"replicas": 3, "autoScaling": {"most": 5}}, schema)
    version = versions()["1.34"]["coredns"]
    assert {each.message for each in found} == {
        f"coredns {version} has no setting {path}, so EKS refuses it" for path in ("replicas", "autoScaling.most")
    }
    assert "set `replicas` to `null` in `eks.addons.coredns.configuration`" in " ".join(each.fix for each in found)


def test_an_open_schema_accepts_all_settings_and_an_unreadable_one_is_a_warning() -> None:
    for schema in ('{"type": "object"}', "", '{"additionalProperties": false, "patternProperties": {".*": {}}}'):
        assert settings_of_coredns({"replicas": 3}, schema) == []
    assert outcomes(settings_of_coredns({"replicas": 3}, "{")) == ["warning"]


def test_the_schema_is_read_only_for_add_ons_with_settings() -> None:
    assert {each.outcome for each in asked(eks_addons, available(), NEW)} == {"ok"}
    tainted = NEW.replace("instance_count: 2}", "instance_count: 2, taints: [{key: a, effect: NoSchedule}]}")
    denied = {**available(), "eks.describe_addon_configuration": DENIED}
    [found] = [each for each in asked(eks_addons, denied, tainted) if each.outcome != "ok"]
    assert found.message == "no permission to check this: TheOperation is denied"


GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"


def update_of_task_governance(installed: Any, kubernetes: str = "1.34") -> list[CheckResult]:
    """Return the findings that are not ok for a deployment whose EKS cluster has this version of the add-on."""
    file = yaml.safe_load(NEW)
    file["eks"] |= {"version": kubernetes, "scheduling": {}}
    aws = {**available(), "cloudformation.describe_stacks": stacks(Addons={}), "eks.describe_addon": installed}
    return [each for each in asked(eks_addons, aws, yaml.safe_dump(file)) if each.outcome != "ok"]


def test_task_governance_is_not_updated_directly_to_another_form_of_its_objects() -> None:
    [found] = update_of_task_governance({"addon": {"addonVersion": "v1.3.1-eksbuild.1"}})
    assert found.outcome == "error"
    assert "no direct update from v1.3.1-eksbuild.1 to v1.6.0-eksbuild.1" in found.message
    assert f"set `eks.addons.{GOVERNANCE}.version` to `v1.3.1-eksbuild.1`" in found.fix
    assert update_of_task_governance({"addon": {"addonVersion": "v1.5.0-eksbuild.1"}}) == []
    assert update_of_task_governance({"addon": {"addonVersion": "v1.3.0-eksbuild.1"}}, "1.33") == []
    assert update_of_task_governance(ABSENT) == []


@pytest.mark.parametrize(
    ("installed", "version"),
    [
        (ABSENT, "v1.22.1-eksbuild.1, EKS's default"),
        ({"addon": {"addonVersion": "v1.22.2-eksbuild.1"}}, "v1.22.2-eksbuild.1, which is installed and stays"),
    ],
)
def test_a_version_that_the_release_does_not_pin_is_the_installed_one_or_the_default(installed: Any, version: str) -> None:
    default = {"addonVersion": "v1.22.1-eksbuild.1", "compatibilities": [{"clusterVersion": "1.36", "defaultVersion": True}]}
    offers = [{"addonVersion": "v3.0.0-eksbuild.1"}, {"addonVersion": "v1.22.2-eksbuild.1"}, default]
    aws = {"eks.describe_addon_versions": {"addons": [{"addonVersions": offers}]}, "eks.describe_addon": installed}
    found = asked(eks_addons, aws, NEW.replace('"1.34"', '"1.36"'))
    assert f"ok: coredns {version}" in [f"{each.outcome}: {each.message}" for each in found]
    [warned] = [each for each in found if each.outcome == "warning"]
    assert warned.message.startswith(f"vpc-cni {version.partition(',')[0]} gives pods the primary address of a HyperPod node")


@pytest.mark.parametrize(
    ("installed", "outcome"), [("v1.22.3-eksbuild.1", ["warning"]), ("v1.22.4-eksbuild.3", []), ("v1.21.2-eksbuild.2", [])]
)
def test_a_broken_add_on_of_an_existing_cluster_is_a_warning(installed: str, outcome: list[str]) -> None:
    aws = {"eks.describe_addon": {"addon": {"addonVersion": installed}}}
    found = asked(eks_addons, aws, EXISTING)
    assert outcomes(found) == ["skipped", *outcome]
    assert [each.fix for each in found[1:]] == ["set `eks.addons.vpc-cni.version` to v1.22.4 or newer"] * len(outcome)


def test_an_add_on_that_the_region_lacks_is_an_error() -> None:
    found = asked(eks_addons, {"eks.describe_addon_versions": {"addons": []}}, NEW)
    assert {each.outcome for each in found} == {"error"}
    assert "set `eks.addons.vpc-cni.enabled: false`" in {each.fix for each in found}


def test_principals_with_access_exist() -> None:
    role = {"Role": {"Arn": ADMIN}}
    assert outcomes(asked(access, {"iam.get_role": role}, NEW)) == ["ok"]
    assert outcomes(asked(access, {"iam.get_role": refused("NoSuchEntity")}, NEW)) == ["error"]
    moved = {"Role": {"Arn": f"arn:aws:iam::{ACCOUNT}:role/team/dev"}}
    assert only(asked(access, {"iam.get_role": moved}, NEW)).fix == "correct its path in the file"


def test_a_caller_who_is_no_administrator_is_warned() -> None:
    file = NEW.replace("role/dev", "user/ann")
    user = {"User": {"Arn": f"arn:aws:iam::{ACCOUNT}:user/ann"}}
    found = asked(access, {"iam.get_user": user}, file)
    assert outcomes(found) == ["ok", "warning"]
    assert "is not in `eks.admins`" in found[1].message


def test_a_principal_of_another_account_is_not_asked_for() -> None:
    file = NEW.replace(f'"{ADMIN}"', f'"{ADMIN}", "arn:aws:iam::210987654321:role/dev"')
    assert outcomes(asked(access, {"iam.get_role": {"Role": {"Arn": ADMIN}}}, file)) == ["ok", "warning"]


def test_the_permissions_of_eks_are_required_only_with_eks() -> None:
    needed = set(actions(parsed(NEW))) - set(actions(parsed(FILE)))
    assert {"eks:CreateCluster", "eks:CreateAddon", "eks:CreateAccessEntry"} <= needed
    assert "eks:CreateCluster" not in actions(parsed(EXISTING))


def test_a_new_control_plane_costs_by_the_hour_and_an_existing_one_costs_nothing() -> None:
    assert [each.name for each in charges_of(parsed(NEW)) if each.section == "kubernetes"] == ["EKS control plane"]
    assert [each.name for each in charges_of(parsed(EXISTING)) if each.section == "kubernetes"] == []
