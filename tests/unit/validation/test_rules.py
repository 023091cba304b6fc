"""Each rule has a draft that breaks it alone: a rule without one fails the first test."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.validation.override_drafts import OVERRIDE_BREAKERS
from validation.rules import RULES

BREAKERS: dict[str, Callable[[Any], object]] = {
    **OVERRIDE_BREAKERS,
    "own-tags": lambda draft: draft.set("tags", {"aws:team": "x"}),
    "overrides-of-the-cluster": lambda draft: draft.set("overrides", "Tags", []),
    "overrides-of-groups": lambda draft: draft.set("instance_groups", 2, "overrides", "InstanceCount", 3),
    "one-controller-group": lambda draft: draft.remove("instance_groups", 0),
    "at-most-one-login-group": lambda draft: draft.content["instance_groups"].append(
        {"name": "door-2", "role": "login", "instance_type": "ml.m5.xlarge", "instance_count": 1}
    ),
    "unique-group-names": lambda draft: draft.set("instance_groups", 1, "name", "head"),
    "partitions-of-compute-groups": lambda draft: draft.remove("instance_groups", 2, "partition"),
    "nodes-of-the-controller-group": lambda draft: draft.set("instance_groups", 0, "instance_count", 0),
    "nodes-of-the-login-group": lambda draft: draft.set("instance_groups", 1, "instance_count", 0),
    "minimum-within-count": lambda draft: draft.set("instance_groups", 2, "overrides", "MinInstanceCount", 5),
    "deep-health-checks-of-accelerated-types": lambda draft: draft.set(
        "instance_groups", 1, "deep_health_checks", ["InstanceStress"]
    ),
    "form-of-regions": lambda draft: draft.set("region", "us-wset-2").set("network", "availability_zone_id", "xx1-az1"),
    "known-region": lambda draft: draft.set("region", "us-west-3"),
    "zone-of-the-region": lambda draft: draft.set("network", "availability_zone_id", "use1-az4"),
    "known-zone": lambda draft: draft.set("network", "availability_zone_id", "usw2-az9"),
    "size-of-ranges": lambda draft: draft.set("network", "node_cidr", "10.8.0.0/15"),
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
    "node-range-beside-vpc": lambda draft: draft.set("network", "node_cidr", "10.0.128.0/17"),
    "ranges-apart-from-docker": lambda draft: (
        draft.set("network", "vpc_cidr", "172.17.0.0/16")
        .set("network", "public_subnet_cidr", "172.17.0.0/24")
        .set("network", "node_cidr", "172.20.0.0/16")
    ),
    "addresses-for-all-nodes": lambda draft: draft.set("network", "node_cidr", "10.1.0.0/25"),
    "addresses-for-the-largest-types": lambda draft: draft.set("network", "node_cidr", "10.1.0.0/25").set(
        "instance_groups",
        2,
        "overrides",
        {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": ["ml.p5e.48xlarge", "ml.p5en.48xlarge"]}},
    ),
    "addresses-for-autoscaling": lambda draft: draft.set("overrides", {"AutoScaling": {"Mode": "Enable"}}).set(
        "silence", [{"rule": "slurm-without-kubernetes", "reason": "the rule at hand is about the day when Slurm has it, too"}]
    ),
    "known-instance-type": lambda draft: draft.set("instance_groups", 2, "instance_type", "ml.p9.48xlarge"),
    "threads-of-the-type": lambda draft: draft.set("instance_groups", 1, "instance_type", "ml.m7g.xlarge").set(
        "instance_groups", 1, "threads_per_core", 2
    ),
    "alike-types-in-a-group": lambda draft: draft.set(
        "instance_groups",
        2,
        "overrides",
        {"InstanceType": None, "InstanceRequirements": {"InstanceTypes": ["ml.p5.48xlarge", "ml.trn1.32xlarge"]}},
    ),
    "efa-of-the-file-system": lambda draft: draft.set(
        "storage", {"existing": {"file_system_id": "fs-01234567", "mount_name": "fsx", "efa": True}}
    ).set("instance_groups", 2, "instance_type", "ml.c5.xlarge"),
    "efa-within-a-zone": lambda draft: draft.set(
        "instance_groups",
        2,
        "overrides",
        "OverrideVpcConfig",
        {
            "SecurityGroupIds": ["sg-0123456789abcdef0"],
            "Subnets": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
        },
    ),
    "efa-interfaces-of-efa-types": lambda draft: draft.set(
        "instance_groups", 1, "overrides", "NetworkInterface", {"InterfaceType": "efa"}
    ),
    "retention-of-flow-logs": lambda draft: draft.set("network", "flow_logs_retention_days", 31),
    "one-file-system": lambda draft: draft.set("storage", "existing", {"file_system_id": "fs-01234567", "mount_name": "fsx"}),
    "storage-capacity": lambda draft: draft.set("storage", "lustre", "storage_capacity_gib", 3600),
    "throughput-of-deployment-type": lambda draft: draft.set("storage", "lustre", "throughput_mbps_per_tib", 200),
    "version-of-deployment-type": lambda draft: draft.set("storage", "lustre", "version", "2.10").remove(
        "storage", "data_repository_associations"
    ),
    "associations-need-a-file-system": lambda draft: draft.remove("storage", "lustre"),
    "associations-apart": lambda draft: draft.content["storage"]["data_repository_associations"].append(
        {"path": "/data/more", "bucket": "another-bucket"}
    ),
    "one-link-of-a-prefix": lambda draft: draft.content["storage"]["data_repository_associations"].append({"path": "/more"}),
    "prefixes-apart": lambda draft: draft.content["storage"]["data_repository_associations"].append(
        {"path": "/more", "prefix": "more"}
    ),
    "association-values": lambda draft: draft.set("storage", "data_repository_associations", 0, "path", "/data/.."),
    "paths-within-the-file-system": lambda draft: draft.set("storage", "data_repository_associations", 0, "path", "/fsx/data"),
    "homes-apart-from-buckets": lambda draft: draft.set("storage", "data_repository_associations", 0, "path", "/home"),
    "state-apart-from-buckets": lambda draft: draft.set(
        "slurm", {"state_folder": "/fsx/data/slurm", "accounting": {"database": "none"}}
    ),
    "bucket-of-the-region": lambda draft: draft.set(
        "storage", "data_repository_associations", 0, "bucket", "theirs-eu-west-1-data"
    ),
    "data-bucket-is-linked": lambda draft: draft.remove("storage", "data_repository_associations").set(
        "storage", "data_bucket", "existing", "ours"
    ),
    "one-file-system-of-a-kind": lambda draft: (
        draft.remove("storage", "lustre")
        .set("storage", "existing", {"file_system_id": "fs-01234567", "mount_name": "fsx"})
        .set("storage", "openzfs", "dns_name", "fs-01234567.fsx.us-west-2.amazonaws.com")
    ),
    "unique-account-names": lambda draft: draft.set("users", [{"name": "eve", "uid": 10001}, {"name": "eve", "uid": 10002}]),
    "unique-account-ids": lambda draft: draft.set("users", [{"name": "eve", "uid": 10001}, {"name": "bob", "uid": 10001}]),
    "free-account-names": lambda draft: draft.set("users", [{"name": "slurm", "uid": 10001}]),
    "free-account-ids": lambda draft: draft.set("users", [{"name": "eve", "uid": 65534}]),
    "groups-of-users": lambda draft: draft.set("users", [{"name": "eve", "uid": 10001, "groups": ["research"]}]),
    "ssh-public-keys": lambda draft: draft.set(
        "users", [{"name": "eve", "uid": 10001, "ssh_public_keys": [f"ssh-ed25519 {'A' * 64} eve@laptop"]}]
    ),
    "external-accounting": lambda draft: draft.set("slurm", "accounting", "database", "external"),
    "accounting-without-a-host": lambda draft: draft.set("slurm", "accounting", "host", "db.example.com"),
    "several-controllers": lambda draft: draft.set("instance_groups", 0, "instance_count", 2),
    "state-on-shared-storage": lambda draft: draft.set(
        "slurm", {"state_folder": "/var/spool/slurm", "accounting": {"database": "none"}}
    ),
    "state-outlives-accounting": lambda draft: draft.set("slurm", "state_folder", "/fsx/slurm"),
    "topology-text": lambda draft: draft.set("slurm", "topology", "SwitchName=s1 Switches=s[2-3]"),
    "source-or-extra": lambda draft: draft.put("own/on_create.sh", "more/after_slurm/one.sh").set(
        "lifecycle", {"source": "own", "extra": "more"}
    ),
    "bucket-of-other-scripts": lambda draft: draft.set(
        "instance_groups",
        2,
        "overrides",
        {"LifeCycleConfig": {"SourceS3Uri": "s3://BUCKET/src"}, "ExecutionRole": "arn:aws:iam::123456789012:role/theirs"},
    ),
    "scripts-that-groups-start": lambda draft: draft.set(
        "instance_groups", 2, "overrides", "LifeCycleConfig", {"OnCreate": "setup.sh"}
    ),
    "on-create-of-the-source": lambda draft: draft.put("own/start.sh").set("lifecycle", "source", "own"),
    "points-of-extra-scripts": lambda draft: draft.put("more/one.sh").set("lifecycle", "extra", "more"),
    "files-that-nodes-can-get": lambda draft: (
        draft.put("more/after_slurm/one.sh", "elsewhere.sh").link("more/after_slurm/two.sh", "../../elsewhere.sh")
    ).set("lifecycle", "extra", "more"),
    "adoption-by-name": lambda draft: draft.set("adopt", True),
    "adopted-or-made-anew": lambda draft: (
        draft.set("adopt", True).set("recreate", True).set("cluster_name", "theirs").set("removal", "retain")
    ),
    "retained-with-its-storage": lambda draft: draft.set("removal", "retain").set("storage", "lustre", "removal", "destroy"),
    "let-go-before-it-leaves-the-stack": lambda draft: draft.set("implementation", "none"),
    "options-of-the-custom-resource": lambda draft: draft.set("implementation", "native").set("wait", "cluster"),
    "data-outlives-the-stack": lambda draft: draft.set("storage", "lustre", "removal", "destroy"),
    "time-for-deep-health-checks": lambda draft: draft.set("instance_groups", 2, "deep_health_checks", ["InstanceStress"]),
    "tried-trust-policy": lambda draft: draft.set("trust_source_account", True),
    "some-compute-group": lambda draft: draft.remove("instance_groups", 2),
    "numbers-of-systemd": lambda draft: draft.set("users", [{"name": "eve", "uid": 60001}]),
    "named-once": lambda draft: draft.set("users", [{"name": "eve", "uid": 10001, "groups": ["ml", "ml"]}]).set(
        "user_groups", [{"name": "ml", "gid": 20001}]
    ),
    "numbers-of-people": lambda draft: draft.set("users", [{"name": "eve", "uid": 5001}]),
    "existing-bucket-is-kept": lambda draft: draft.set("storage", "data_bucket", {"existing": "ours", "removal": "destroy"}),
}


def test_each_rule_has_a_draft_that_breaks_it() -> None:
    assert set(BREAKERS) == set(RULES)


@pytest.mark.parametrize("rule", BREAKERS)
def test_a_draft_that_breaks_one_rule_breaks_no_other(draft: Any, rule: str) -> None:
    assert draft.problems() == []
    BREAKERS[rule](draft)
    assert {problem.rule for problem in draft.problems() if problem.silenced is None} == {rule}


@pytest.mark.parametrize("rule", BREAKERS)
def test_a_broken_rule_names_the_value_and_the_remedy(draft: Any, rule: str) -> None:
    BREAKERS[rule](draft)
    for problem in draft.problems():
        assert "; " in problem.message
        assert not problem.message.endswith(".")
        assert problem.path


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_each_rule_says_in_one_line_what_holds(rule: Any) -> None:
    assert rule.says
    assert "\n" not in rule.says


def test_rules_of_valid_sections_speak_although_another_section_is_invalid(draft: Any) -> None:
    draft.set("instance_groups", 0, "role", "boss")
    draft.set("network", "node_cidr", "10.0.128.0/17")
    draft.set("storage", "lustre", "storage_capacity_gib", 1300)
    assert {str(problem.path[0]) for problem in draft.problems()} == {"instance_groups", "network", "storage"}


def test_a_rule_that_needs_an_invalid_section_is_silent(draft: Any) -> None:
    draft.set("region", 7)
    assert [problem.path for problem in draft.problems()] == [("region",)]
