"""Variants of the reference cluster with one change each."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from cluster_request.request import merged
from tests.cluster_files import REFERENCE

TWO_SUBNETS = ["subnet-00000000000000001", "subnet-00000000000000002"]
EXISTING_NETWORK = {
    "vpc_id": "vpc-00000000000000000",
    "node_subnet_ids": TWO_SUBNETS,
    "security_group_id": "sg-00000000000000000",
}
EXISTING_FILE_SYSTEM = {"file_system_id": "fs-00000000000000000", "mount_name": "abcdefgh"}
SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"
TEAMS_ID = "01234567-89ab-cdef-0123-456789abcdef"
TOPIC = "arn:aws:sns:us-west-2:123456789012:trouble"
MOUNT = {"DnsName": "fs-00000000000000000.fsx.us-west-2.amazonaws.com", "MountName": "abcdefgh", "MountPath": "/fsx"}
KEY = "arn:aws:kms:us-west-2:123456789012:key/01234567-89ab-cdef-0123-456789abcdef"

OTHER_SUBNET, OTHER_GROUP = "subnet-11111111111111111", "sg-11111111111111111"

BOUNDARY = "arn:aws:iam::123456789012:policy/nodes/limit"
NODE_ROLE = {
    "managed_policy_arns": [
        "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryReadOnly",
        "arn:aws:iam::123456789012:policy/data",
    ],
    "statements": [
        {
            "Sid": "ReadDatasets",
            "Effect": "Allow",
            "Action": ["s3:Get*", "s3:ListBucket"],
            "Resource": ["arn:aws:s3:::datasets", "arn:aws:s3:::datasets/*"],
            "Condition": {"Bool": {"aws:SecureTransport": "true"}},
        },
        {"Effect": "Deny", "Action": ["s3:Put*"], "Resource": ["*"]},
        {"Effect": "Allow", "Action": ["ecr:GetAuthorizationToken"], "Resource": ["*"]},
    ],
    "permissions_boundary_arn": BOUNDARY,
}

CHANGES: dict[str, dict[str, Any]] = {
    "same": {},
    **{
        each: {"network": {"existing": EXISTING_NETWORK}} for each in ("existing-network", "mounted-by-hyperpod", "training-plan")
    },
    "internet-access": {"network": {"existing": {**EXISTING_NETWORK, "internet_access": "create"}}},
    "existing-storage": {
        "storage": {"lustre": None, "existing": EXISTING_FILE_SYSTEM, "data_bucket": {"existing": "datasets"}},
    },
    "existing-bucket": {"storage": {"data_bucket": {"existing": "datasets"}}},
    "bucket-read": {"slurm": {"metadata_access": "all"}, "storage": {"data_bucket": {"node_access": "read"}}},
    "bucket-written": {
        "slurm": {"metadata_access": "administrators"},
        "storage": {"data_bucket": {"existing": "datasets", "node_access": "write"}},
    },
    "no-storage": {"storage": {"lustre": None, "data_repository_associations": []}},
    "destroyed": {"storage": {"lustre": {"removal": "destroy"}, "data_bucket": {"removal": "destroy"}}},
    "bucket-destroyed": {"storage": {"data_bucket": {"removal": "destroy"}}},
    "persistent-1": {"storage": {"lustre": {"deployment_type": "PERSISTENT_1", "throughput_mbps_per_tib": 100}}},
    "other-lustre": {"storage": {"lustre": {"version": "2.12"}}},
    "other-throughput": {"storage": {"lustre": {"throughput_mbps_per_tib": 500}}},
    "more-capacity": {"storage": {"lustre": {"storage_capacity_gib": 2400}}},
    "other-zone": {"network": {"availability_zone_id": "usw2-az3"}},
    "other-range": {"network": {"node_cidr": "10.2.0.0/16"}},
    "three-hours": {"wait_hours": 3},
    "alarm-topic": {"alarm_topic_arn": TOPIC},
    "unmonitored": {"monitoring": {"enabled": False}},
    "notified": {
        "monitoring": {
            "emails": ["ops@example.com"],
            "slack": {"workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"},
            "teams": {"tenant_id": TEAMS_ID, "team_id": TEAMS_ID, "channel_id": "19%3Aabc%40thread.tacv2"},
            "drained_nodes": 3,
            "free_disk_percent": 20,
        }
    },
    "existing-topic": {"monitoring": {"topic_arn": TOPIC}},
    "without-agent": {"lifecycle": {"follow": "new_nodes"}},
    "not-waiting": {"wait": "none"},
    "recreated": {"recreate": True},
    "named": {"cluster_name": "ml-cluster"},
    "source-account": {"trust_source_account": True},
    "node-role": {"slurm": {"metadata_access": "all"}, "node_role": NODE_ROLE},
    "external-accounting": {"slurm": {"accounting": {"database": "external", "host": "db", "secret_arn": SECRET}}},
    "own-key": {
        "slurm": {"accounting": {"database": "external", "host": "db", "secret_arn": SECRET, "secret_key_arn": KEY}},
    },
    "own-role": {
        "slurm": {
            "controller_role": "own",
            "accounting": {"database": "external", "host": "db", "secret_arn": SECRET, "secret_key_arn": KEY},
        },
        "node_role": {"permissions_boundary_arn": BOUNDARY},
    },
    "directory": {
        "directory": {
            "type": "ldap",
            "uris": ["ldaps://ldap.example.com"],
            "search_base": "dc=example,dc=com",
            "bind_dn": "cn=sssd,dc=example,dc=com",
            "secret_arn": SECRET,
            "secret_key_arn": KEY,
        }
    },
    "anywhere": {"region": None},
    "kept": {"removal": "retain"},
    "tagged": {"tags": {"team": "research"}},
    "a-name-of-thirty-one-characters": {},
}

CHANGES_OF_THE_WORKERS: dict[str, dict[str, Any]] = {
    "more-nodes": {"instance_count": 6},
    "volume-key": {"volume_key_arn": KEY, "volume_gib": 500},
    "own-image": {"image_id": "ami-0123456789abcdef0"},
    "other-partition": {"partition": "prod"},
    "mounted-by-hyperpod": {"overrides": {"InstanceStorageConfigs": [{"FsxLustreConfig": MOUNT}]}},
    "training-plan": {
        "overrides": {
            "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan",
            "OverrideVpcConfig": {"Subnets": [OTHER_SUBNET], "SecurityGroupIds": [OTHER_GROUP]},
        }
    },
}


def write_variants(folder: Path, names: Iterable[str] = (*CHANGES_OF_THE_WORKERS, *CHANGES)) -> None:
    """Write a cluster file for each named change."""
    reference = yaml.safe_load(REFERENCE.read_text())
    *others, workers = reference["instance_groups"]
    for name in names:
        groups = [*others, {**workers, **CHANGES_OF_THE_WORKERS.get(name, {})}]
        content = merged({**reference, "instance_groups": groups}, CHANGES.get(name, {}))
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
