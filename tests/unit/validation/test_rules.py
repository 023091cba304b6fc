"""Each rule has a draft that breaks only this rule; a rule without one fails the first test."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.validation.eks_drafts import EKS_BREAKERS
from tests.unit.validation.override_drafts import OVERRIDE_BREAKERS, of_work
from validation.rules import RULES


def partitions(draft: Any, *entries: dict[str, Any]) -> Any:
    """Set partitions; an entry without a name is the compute group's."""
    own = draft.content["instance_groups"][2]["partition"]
    return draft.set("slurm", "partitions", [{"name": own, **entry} for entry in entries])


MANAGED = {
    "database": "managed",
    "host": "db.example.com",
    "secret_arn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf",
}
READ = {"Sid": "ReadDatasets", "Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::datasets/*"]}


def _with_own_roles(draft: Any) -> Any:
    for group in draft.content["instance_groups"]:
        group["execution_role"] = "arn:aws:iam::123456789012:role/theirs"
    return draft


OTHER_REGIONS_KEY = "arn:aws:kms:eu-west-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"


def directory(draft: Any, **more: object) -> Any:
    """Set a directory."""
    smallest = {
        "type": "ldap",
        "uris": ["ldaps://ldap.example.com"],
        "search_base": "dc=example,dc=com",
        "bind_dn": "cn=sssd,dc=example,dc=com",
        "secret_arn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:directory-AbCdEf",
    }
    return draft.set("directory", smallest | more)


BREAKERS: dict[str, Callable[[Any], object]] = {
    **OVERRIDE_BREAKERS,
    "reserved-tag-prefix": lambda draft: draft.set("tags", {"aws:team": "x"}),
    "reserved-cluster-overrides": lambda draft: draft.set("overrides", "Tags", []),
    "reserved-group-overrides": lambda draft: draft.set("instance_groups", 2, "overrides", "InstanceCount", 3),
    "one-controller-group": lambda draft: draft.remove("instance_groups", 0),
    "at-most-one-login-group": lambda draft: draft.content["instance_groups"].append(
        {"name": "door-2", "role": "login", "instance_type": "ml.m5.xlarge", "instance_count": 1}
    ),
    "unique-group-names": lambda draft: draft.set("instance_groups", 1, "name", "head"),
    "partition-role": lambda draft: draft.remove("instance_groups", 2, "partition"),
    "empty-controller-group": lambda draft: draft.set("instance_groups", 0, "instance_count", 0),
    "empty-login-group": lambda draft: draft.set("instance_groups", 1, "instance_count", 0),
    "min-instance-count": lambda draft: draft.set("instance_groups", 2, "overrides", "MinInstanceCount", 5),
    "deep-health-check-types": lambda draft: draft.set("instance_groups", 1, "deep_health_checks", ["InstanceStress"]),
    "region-format": lambda draft: draft.set("region", "us-wset-2").set("network", "availability_zone_id", "xx1-az1"),
    "known-region": lambda draft: draft.set("region", "us-west-3"),
    "zone-region": lambda draft: draft.set("network", "availability_zone_id", "use1-az4"),
    "known-zone": lambda draft: draft.set("network", "availability_zone_id", "usw2-az9"),
    "cidr-size": lambda draft: draft.set("network", "node_cidr", "10.8.0.0/15"),
    "public-subnet-in-existing-vpc": lambda draft: draft.set("network", "public_subnet_cidr", "10.7.0.0/24").set(
        "network",
        "existing",
        {
            "vpc_id": "vpc-01234567",
            "node_subnet_ids": ["subnet-01234567"],
            "security_group_id": "sg-01234567",
            "internet_access": "create",
        },
    ),
    "public-subnet-in-vpc": lambda draft: draft.set("network", "public_subnet_cidr", "10.7.0.0/24"),
    "node-cidr-conflict": lambda draft: draft.set("network", "node_cidr", "10.0.128.0/17"),
    "docker-cidr-overlap": lambda draft: (
        draft.set("network", "vpc_cidr", "172.17.0.0/16")
        .set("network", "public_subnet_cidr", "172.17.0.0/24")
        .set("network", "node_cidr", "172.20.0.0/16")
    ),
    "subnet-capacity": lambda draft: draft.set("network", "node_cidr", "10.1.0.0/25"),
    "subnet-capacity-largest-types": lambda draft: draft.set("network", "node_cidr", "10.1.0.0/25").set(
        "instance_groups",
        2,
        "overrides",
        {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": ["ml.p5e.48xlarge", "ml.p5en.48xlarge"]}},
    ),
    "subnet-capacity-autoscaling": lambda draft: draft.set("overrides", {"AutoScaling": {"Mode": "Enable"}}).set(
        "suppress", [{"rule": "eks-only-option", "reason": "the rule at hand is about the day when Slurm has it, too"}]
    ),
    "known-instance-type": lambda draft: draft.set("instance_groups", 2, "instance_type", "ml.p9.48xlarge"),
    "type-in-zone": lambda draft: draft.set("instance_groups", 2, "instance_type", "ml.g5.xlarge"),
    "threads-per-core": lambda draft: draft.set("instance_groups", 1, "instance_type", "ml.m7g.xlarge").set(
        "instance_groups", 1, "threads_per_core", 2
    ),
    "mixed-instance-types": lambda draft: draft.set(
        "instance_groups",
        2,
        "overrides",
        {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": ["ml.p5.48xlarge", "ml.trn1.32xlarge"]}},
    ),
    "efa-file-system": lambda draft: draft.set(
        "storage", {"existing": {"file_system_id": "fs-01234567", "mount_name": "fsx", "efa": True}}
    ).set("instance_groups", 2, "instance_type", "ml.c5.xlarge"),
    "efa-single-zone": lambda draft: of_work(
        draft,
        "OverrideVpcConfig",
        {
            "SecurityGroupIds": ["sg-0123456789abcdef0"],
            "Subnets": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
        },
    ),
    "efa-interface-type": lambda draft: draft.set(
        "instance_groups", 1, "overrides", "NetworkInterface", {"InterfaceType": "efa"}
    ),
    "flow-log-retention": lambda draft: draft.set("network", "flow_logs_retention_days", 31),
    "file-system-conflict": lambda draft: draft.set(
        "storage", "existing", {"file_system_id": "fs-01234567", "mount_name": "fsx"}
    ),
    "storage-capacity": lambda draft: draft.set("storage", "lustre", "storage_capacity_gib", 3600),
    "lustre-throughput": lambda draft: draft.set("storage", "lustre", "throughput_mbps_per_tib", 200),
    "lustre-version": lambda draft: draft.set("storage", "lustre", "version", "2.10").remove(
        "storage", "data_repository_associations"
    ),
    "association-without-file-system": lambda draft: draft.remove("storage", "lustre"),
    "overlapping-associations": lambda draft: draft.content["storage"]["data_repository_associations"].append(
        {"path": "/data/more", "bucket": "another-bucket"}
    ),
    "duplicate-association-prefix": lambda draft: draft.content["storage"]["data_repository_associations"].append(
        {"path": "/more"}
    ),
    "overlapping-association-prefixes": lambda draft: draft.content["storage"]["data_repository_associations"].append(
        {"path": "/more", "prefix": "more"}
    ),
    "association-values": lambda draft: draft.set("storage", "data_repository_associations", 0, "path", "/data/.."),
    "association-path": lambda draft: draft.set("storage", "data_repository_associations", 0, "path", "/fsx/data"),
    "association-covers-home": lambda draft: draft.set("storage", "data_repository_associations", 0, "path", "/home"),
    "association-covers-slurm-state": lambda draft: draft.set(
        "slurm", {"setup": "scripts", "state_folder": "/fsx/data/slurm", "accounting": {"database": "none"}}
    ),
    "bucket-region": lambda draft: draft.set("storage", "data_repository_associations", 0, "bucket", "theirs-eu-west-1-data"),
    "unlinked-data-bucket": lambda draft: draft.remove("storage", "data_repository_associations").set(
        "storage", "data_bucket", "existing", "ours"
    ),
    "node-access-without-bucket": lambda draft: draft.remove("storage", "data_repository_associations").set(
        "storage", "data_bucket", "node_access", "read"
    ),
    "duplicate-file-system": lambda draft: (
        draft.remove("storage", "lustre")
        .set("storage", "existing", {"file_system_id": "fs-01234567", "mount_name": "fsx"})
        .set("storage", "openzfs", "dns_name", "fs-01234567.fsx.us-west-2.amazonaws.com")
    ),
    "unused-homes": lambda draft: draft.set("storage", "homes", "/fsx").set(
        "storage", "openzfs", "dns_name", "fs-01234567.fsx.us-west-2.amazonaws.com"
    ),
    "unique-account-names": lambda draft: draft.set("users", [{"name": "eve", "uid": 10001}, {"name": "eve", "uid": 10002}]),
    "unique-account-ids": lambda draft: draft.set("users", [{"name": "eve", "uid": 10001}, {"name": "bob", "uid": 10001}]),
    "reserved-account-names": lambda draft: draft.set("users", [{"name": "slurm", "uid": 10001}]),
    "reserved-account-ids": lambda draft: draft.set("users", [{"name": "eve", "uid": 65534}]),
    "unknown-user-groups": lambda draft: draft.set("users", [{"name": "eve", "uid": 10001, "groups": ["research"]}]),
    "ssh-public-keys": lambda draft: draft.set(
        "users", [{"name": "eve", "uid": 10001, "ssh_public_keys": [f"ssh-ed25519 {'A' * 64} eve@laptop"]}]
    ),
    "external-accounting": lambda draft: draft.set("slurm", "accounting", "database", "external"),
    "managed-accounting": lambda draft: draft.set("slurm", {"setup": "api", "accounting": MANAGED}),
    "training-plan-capacity": lambda draft: draft.set("instance_groups", 2, "capacity", "training_plan"),
    "unused-accounting-fields": lambda draft: draft.set("slurm", "accounting", "host", "db.example.com"),
    "controller-state-folder": lambda draft: draft.set("instance_groups", 0, "instance_count", 2),
    "state-on-shared-storage": lambda draft: draft.set(
        "slurm", {"setup": "scripts", "state_folder": "/var/spool/slurm", "accounting": {"database": "none"}}
    ),
    "state-with-local-accounting": lambda draft: draft.set("slurm", "state_folder", "/fsx/slurm"),
    "local-accounting": lambda draft: draft.set("instance_groups", 0, "image_id", "ami-0123456789abcdef0"),
    "topology-syntax": lambda draft: draft.set("slurm", "topology", "SwitchName=s1 Switches=s[2-3]"),
    "slurm-setting-names": lambda draft: draft.set("slurm", "settings", {"Sched Parameters": "bf_continue"}),
    "duplicate-slurm-settings": lambda draft: draft.set("slurm", "settings", {"KillWait": "60", "killwait": "90"}),
    "reserved-slurm-settings": lambda draft: draft.set("slurm", "settings", {"StateSaveLocation": "/fsx/slurm"}),
    "unknown-slurm-settings": lambda draft: draft.set("slurm", "settings", {"SchedulerParameter": "bf_continue"}),
    "unique-partition-names": lambda draft: partitions(draft, {}, {"max_time": "60"}),
    "one-default-partition": lambda draft: partitions(
        draft, {"default": True}, {"name": "all", "groups": ["work"], "default": True}
    ),
    "partition-groups": lambda draft: partitions(draft, {"groups": ["work", "head"]}),
    "incomplete-partition-groups": lambda draft: (
        partitions(draft, {"groups": ["more"]})
        .content["instance_groups"]
        .append({"name": "more", "role": "compute", "instance_type": "ml.m5.xlarge", "instance_count": 1, "partition": "cpu"})
    ),
    "partition-without-groups": lambda draft: partitions(draft, {"name": "all"}),
    "partition-accounting": lambda draft: partitions(draft, {"allow_accounts": ["vision"]}).set(
        "slurm", "accounting", {"database": "none"}
    ),
    "unenforced-qos": lambda draft: partitions(draft, {"qos": "short"}),
    "lifecycle-source-conflict": lambda draft: draft.put("own/on_create.sh", "more/after_slurm/one.sh").set(
        "lifecycle", {"source": "own", "extra": "more"}
    ),
    "follow-live": lambda draft: draft.put("own/on_create.sh").set("lifecycle", {"source": "own", "follow": "live"}),
    "script-bucket-name": lambda draft: draft.set(
        "instance_groups",
        2,
        "overrides",
        {"LifeCycleConfig": {"SourceS3Uri": "s3://BUCKET/src"}, "ExecutionRole": "arn:aws:iam::123456789012:role/theirs"},
    ),
    "missing-lifecycle-script": lambda draft: draft.set(
        "instance_groups", 2, "overrides", "LifeCycleConfig", {"OnCreate": "setup.sh"}
    ),
    "missing-on-create": lambda draft: draft.put("own/start.sh").set("lifecycle", "source", "own"),
    "extra-script-folders": lambda draft: draft.put("more/one.sh").set("lifecycle", "extra", "more"),
    "lifecycle-files": lambda draft: (
        draft.put("more/after_slurm/one.sh", "elsewhere.sh").link("more/after_slurm/two.sh", "../../elsewhere.sh")
    ).set("lifecycle", "extra", "more"),
    "api-setup-limits": lambda draft: (
        draft.put("own/on_create.sh").set("lifecycle", "source", "own").set("slurm", {"setup": "api"})
    ),
    "api-setup-storage": lambda draft: draft.set("slurm", {"setup": "api"}).set(
        "instance_groups", 2, "overrides", {"InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]}
    ),
    "eks-only-fields": lambda draft: draft.set("instance_groups", 2, "labels", {"pool": "gpus"}),
    "adopt-requirements": lambda draft: draft.set("adopt", True),
    "adopt-or-recreate": lambda draft: (
        draft.set("adopt", True).set("recreate", True).set("cluster_name", "theirs").set("removal", "retain")
    ),
    "retain-storage": lambda draft: draft.set("removal", "retain").set("storage", "lustre", "removal", "destroy"),
    "data-deletion": lambda draft: draft.set("storage", "lustre", "removal", "destroy"),
    "deep-health-check-timeout": lambda draft: draft.set("instance_groups", 2, "deep_health_checks", ["InstanceStress"]),
    "untested-trust-policy": lambda draft: draft.set("trust_source_account", True),
    "node-role-policy-account": lambda draft: draft.set("account", "123456789012").set(
        "node_role", "permissions_boundary_arn", "arn:aws:iam::210987654321:policy/theirs"
    ),
    "duplicate-emails": lambda draft: draft.set("monitoring", "emails", ["ops@example.com", "Ops@example.com"]),
    "unused-monitoring": lambda draft: draft.set("monitoring", {"enabled": False, "drained_nodes": 2}),
    "duplicate-node-role-policies": lambda draft: draft.set("node_role", "statements", [READ, READ]),
    "node-role-policy-size": lambda draft: draft.set(
        "node_role", "statements", [{**READ, "Resource": [f"arn:aws:s3:::{'a' * 60}{index}" for index in range(60)]}]
    ),
    "unrestricted-node-role": lambda draft: draft.set("node_role", "statements", [{**READ, "Action": ["*"]}]),
    "unused-node-role": lambda draft: _with_own_roles(draft).set("node_role", "statements", [READ]),
    "no-compute-group": lambda draft: draft.remove("instance_groups", 2),
    "systemd-uid-range": lambda draft: draft.set("users", [{"name": "eve", "uid": 60001}]),
    "duplicate-user-entries": lambda draft: draft.set("users", [{"name": "eve", "uid": 10001, "groups": ["ml", "ml"]}]).set(
        "user_groups", [{"name": "ml", "gid": 20001}]
    ),
    "uid-range": lambda draft: draft.set("users", [{"name": "eve", "uid": 5001}]),
    "directory-access": lambda draft: directory(draft, allowed_groups=["ml"], access_filter="(uid=a*)"),
    "directory-id-mapping": lambda draft: directory(draft, id_mapping=True),
    "directory-id-range": lambda draft: directory(draft, min_id=20000, max_id=10000),
    "directory-local-ids": lambda draft: directory(draft, max_id=50000).set("users", [{"name": "eve", "uid": 10001}]),
    "directory-options": lambda draft: directory(draft, options={"ldap_tls_reqcert": "never"}),
    "directory-certificates": lambda draft: directory(draft, ca_certificates="/etc/ssl/ca.pem"),
    "directory-secret-key": lambda draft: directory(draft, secret_key_arn=OTHER_REGIONS_KEY),
    "directory-secret-location": lambda draft: (
        directory(draft)
        .set("region", "us-west-2")
        .set("directory", "secret_arn", "arn:aws:secretsmanager:us-east-1:123456789012:secret:directory-AbCdEf")
    ),
    "directory-secret-role": lambda draft: _with_own_roles(directory(draft)),
    "directory-homes": lambda draft: directory(draft).remove("storage"),
    "directory-lifecycle-source": lambda draft: directory(draft.put("own/on_create.sh").set("lifecycle", "source", "own")),
    "existing-bucket-removal": lambda draft: draft.set("storage", "data_bucket", {"existing": "ours", "removal": "destroy"}),
}


def test_each_rule_has_a_draft_that_breaks_it() -> None:
    assert {*BREAKERS, *EKS_BREAKERS} == set(RULES)


@pytest.mark.parametrize("rule", BREAKERS)
def test_a_draft_that_breaks_one_rule_breaks_no_other(draft: Any, rule: str) -> None:
    assert draft.problems() == []
    BREAKERS[rule](draft)
    assert {problem.rule for problem in draft.problems() if problem.suppressed is None} == {rule}


@pytest.mark.parametrize("rule", EKS_BREAKERS)
def test_an_eks_draft_that_breaks_one_rule_breaks_no_other(eks_draft: Any, rule: str) -> None:
    assert eks_draft.problems() == []
    EKS_BREAKERS[rule](eks_draft)
    assert {problem.rule for problem in eks_draft.problems() if problem.suppressed is None} == {rule}


@pytest.mark.parametrize("rule", EKS_BREAKERS)
def test_a_broken_rule_for_eks_reports_the_value_and_a_fix(eks_draft: Any, rule: str) -> None:
    EKS_BREAKERS[rule](eks_draft)
    for problem in eks_draft.problems():
        assert problem.fix or "; " in problem.message
        assert not str(problem).endswith(".")
        assert problem.path


@pytest.mark.parametrize("rule", BREAKERS)
def test_a_broken_rule_reports_the_value_and_a_fix(draft: Any, rule: str) -> None:
    BREAKERS[rule](draft)
    for problem in draft.problems():
        assert problem.fix or "; " in problem.message
        assert not str(problem).endswith(".")
        assert problem.path


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_each_rule_has_a_requirement_of_one_line(rule: Any) -> None:
    assert rule.says
    assert "\n" not in rule.says


def test_rules_of_valid_sections_speak_although_another_section_is_invalid(draft: Any) -> None:
    draft.set("instance_groups", 0, "role", "boss")
    draft.set("network", "node_cidr", "10.0.128.0/17")
    draft.set("storage", "lustre", "storage_capacity_gib", 1300)
    assert {str(problem.path[0]) for problem in draft.problems()} == {"instance_groups", "network", "storage"}


def test_a_rule_that_needs_an_invalid_section_is_skipped(draft: Any) -> None:
    draft.set("region", 7)
    assert [problem.path for problem in draft.problems()] == [("region",)]
