"""Define a draft for each rule about `overrides` and locations that breaks only this rule."""

from collections.abc import Callable
from typing import Any

WORK = 2
"""The index of the draft's compute group."""

EBS = "EbsVolumeConfig"
PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/ours"
KEY = "key/01234567-89ab-cdef-0123-456789abcdef"
SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"
LUSTRE = {"DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "MountName": "abcdefgh"}
NETWORK = {"Subnets": ["subnet-0123456789abcdef0"], "SecurityGroupIds": ["sg-0123456789abcdef0"]}
ROLE = "arn:aws:iam::123456789012:role/theirs"
RESTRICTED = {
    "InstanceGroupName": "nova",
    "InstanceType": "ml.p5.48xlarge",
    "InstanceCount": 1,
    "ExecutionRole": ROLE,
    "EnvironmentConfig": {"FSxLustreConfig": {"SizeInGiB": 12000, "PerUnitStorageThroughput": 125}},
}
THEIR_SCRIPTS = {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-theirs/src"}, "ExecutionRole": ROLE}


EXISTING = {"vpc_id": "vpc-11111111", "node_subnet_ids": ["subnet-11111111"], "security_group_id": "sg-11111111"}


def of_work(draft: Any, name: str, value: Any) -> Any:
    """Return the draft with an override in its compute group; subnets and mounts of others need an existing network."""
    if value and (name == "OverrideVpcConfig" or "Fsx" in str(value)):
        draft.set("network", "existing", EXISTING)
    return draft.set("instance_groups", WORK, "overrides", name, value)


def accounting(draft: Any, **values: str) -> Any:
    """Return the draft with an external accounting database."""
    external = {"database": "external", "host": "db.example.com", "secret_arn": SECRET}
    return draft.set("slurm", "accounting", {**external, **values})


def continuous(draft: Any) -> Any:
    """Return the draft with valid continuous provisioning."""
    for index, role in enumerate(("Controller", "Login", "Compute")):
        slurm = {"NodeType": role, **({"PartitionNames": ["dev"]} if role == "Compute" else {})}
        draft.set("instance_groups", index, "overrides", {**THEIR_SCRIPTS, "SlurmConfig": slurm})
    return draft.set("overrides", "NodeProvisioningMode", "Continuous")


OVERRIDE_BREAKERS: dict[str, Callable[[Any], object]] = {
    "override-replaces-field": lambda draft: of_work(draft, "InstanceType", "ml.p5.48xlarge"),
    "instance-type-conflict": lambda draft: of_work(draft, "InstanceRequirements", {"InstanceTypes": ["ml.p5.48xlarge"]}),
    "lifecycle-script-conflict": lambda draft: of_work(draft, "LifeCycleConfig", {"OnInitComplete": "on_create.sh"}),
    "training-plan-instance-type": lambda draft: of_work(draft, "TrainingPlanArn", PLAN).set(
        "instance_groups", WORK, "instance_type", "ml.g5.8xlarge"
    ),
    "training-plan-role": lambda draft: draft.set("instance_groups", 1, "instance_type", "ml.p5.4xlarge").set(
        "instance_groups", 1, "overrides", "TrainingPlanArn", PLAN
    ),
    "capacity-source-conflict": lambda draft: continuous(draft).set(
        "instance_groups", WORK, "overrides", "CapacityRequirements", {"Spot": {}, "OnDemand": {}}
    ),
    "spot-role": lambda draft: continuous(draft).set("instance_groups", 1, "overrides", "CapacityRequirements", {"Spot": {}}),
    "vpc-resource-ids": lambda draft: of_work(draft, "OverrideVpcConfig", {**NETWORK, "Subnets": ["private-a"]}),
    "duplicate-vpc-resource-ids": lambda draft: of_work(
        draft, "OverrideVpcConfig", {**NETWORK, "SecurityGroupIds": ["sg-01234567"] * 2}
    ),
    "vpc-config-override": lambda draft: draft.set("overrides", "VpcConfig", NETWORK),
    "missing-vpc-config": lambda draft: draft.set("overrides", "VpcConfig", None),
    "efa-partition-subnets": lambda draft: (
        draft.set("network", "existing", EXISTING)
        .content["instance_groups"]
        .append({**draft.content["instance_groups"][WORK], "name": "more", "overrides": {"OverrideVpcConfig": NETWORK}})
    ),
    "resources-of-another-network": lambda draft: draft.set("instance_groups", WORK, "overrides", "OverrideVpcConfig", NETWORK),
    "slurm-config-conflict": lambda draft: of_work(draft, "SlurmConfig", {"NodeType": "Compute", "PartitionNames": ["dev"]}),
    "incomplete-lifecycle-config": lambda draft: of_work(draft, "LifeCycleConfig", {"SourceS3Uri": None}),
    "nodes-without-slurm": lambda draft: of_work(draft, "LifeCycleConfig", None),
    "pam-slurm-adopt-missing": lambda draft: draft.set("slurm", "restrict_ssh", True),
    "fsx-without-vpc-config": lambda draft: (
        of_work(continuous(draft), "InstanceStorageConfigs", [{"FsxLustreConfig": {**LUSTRE, "MountPath": "/shared"}}])
        .set("storage", {})
        .set("overrides", "VpcConfig", None)
    ),
    "slurm-config-strategy-conflict": lambda draft: continuous(draft).set(
        "overrides", "Orchestrator", {"Slurm": {"SlurmConfigStrategy": "Merge"}}
    ),
    "slurm-config-role": lambda draft: continuous(draft).set(
        "instance_groups", WORK, "overrides", "SlurmConfig", {"NodeType": "Login"}
    ),
    "missing-execution-role": lambda draft: of_work(draft, "LifeCycleConfig", {"SourceS3Uri": "s3://sagemaker-theirs/src"}),
    "image-conflict": lambda draft: of_work(draft, "ImageReleaseVersion", "1.2.3").set(
        "instance_groups", WORK, "overrides", "ImageId", "ami-0123456789abcdef0"
    ),
    "continuous-provisioning": lambda draft: draft.set("overrides", "NodeProvisioningMode", "Continuous"),
    "requires-continuous-provisioning": lambda draft: of_work(draft, "MinInstanceCount", 2),
    "eks-only-option": lambda draft: of_work(draft, "KubernetesConfig", {"Labels": {"team": "vision"}}),
    "patching-strategy": lambda draft: of_work(
        draft, "AutoPatchConfig", {"PatchingStrategy": "DrainFirst", "IdleWaitWindowInSeconds": 3600}
    ),
    "topic-region": lambda draft: draft.set("alarm_topic_arn", "arn:aws:sns:us-east-1:123456789012:alarms"),
    "accounting-database-override": lambda draft: (
        draft.set("slurm", {"setup": "api"})
        .set("provisioning", "continuous")
        .set(
            "overrides", {"Orchestrator": {"Slurm": {"AccountingDatabase": {"Endpoint": "db.example.com", "SecretArn": SECRET}}}}
        )
    ),
    "secret-location": lambda draft: accounting(draft, secret_arn=SECRET.replace("us-west-2", "us-east-1")),
    "database-region": lambda draft: accounting(draft, host="slurm.cluster-abc.us-east-1.rds.amazonaws.com"),
    "secret-key-region": lambda draft: accounting(draft, secret_key_arn=f"arn:aws:kms:us-east-1:123456789012:{KEY}"),
    "openzfs-region": lambda draft: draft.set(
        "storage", "openzfs", "dns_name", "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com"
    ),
    "arn-partition": lambda draft: of_work(draft, "ExecutionRole", ROLE.replace("arn:aws:", "arn:aws-us-gov:")),
    "training-plan-account": lambda draft: of_work(draft, "TrainingPlanArn", PLAN).set("account", "210987654321"),
    "training-plan-region": lambda draft: of_work(draft, "TrainingPlanArn", PLAN.replace("us-west-2", "us-east-1")),
    "accounting-secret-role": lambda draft: accounting(draft).set("instance_groups", 0, "execution_role", ROLE),
    "execution-role-account": lambda draft: of_work(draft, "ExecutionRole", "arn:aws:iam::210987654321:role/theirs").set(
        "account", "123456789012"
    ),
    "volume-key-region": lambda draft: of_work(
        continuous(draft),
        "InstanceStorageConfigs",
        [{EBS: {"RootVolume": True, "VolumeKmsKeyId": f"arn:aws:kms:us-east-1:123456789012:{KEY}"}}],
    ),
    "volume-key-override": lambda draft: of_work(
        continuous(draft).set("instance_groups", WORK, "volume_key_arn", f"arn:aws:kms:us-west-2:123456789012:{KEY}"),
        "InstanceStorageConfigs",
        [{EBS: {"VolumeSizeInGB": 500}}],
    ),
    "volume-size-and-key": lambda draft: of_work(draft, "InstanceStorageConfigs", [{EBS: {"RootVolume": True}}]),
    "duplicate-instance-storage": lambda draft: of_work(draft, "InstanceStorageConfigs", [{EBS: {"VolumeSizeInGB": 500}}] * 2),
    "mount-path-conflict": lambda draft: of_work(continuous(draft), "InstanceStorageConfigs", [{"FsxLustreConfig": LUSTRE}]),
    "mount-without-slurm-config": lambda draft: of_work(
        draft, "InstanceStorageConfigs", [{"FsxLustreConfig": {**LUSTRE, "MountPath": "/shared"}}]
    ),
    "slurm-config-overwrite": lambda draft: continuous(draft).set(
        "overrides", {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Overwrite"}}}
    ),
    "connectivity-check": lambda draft: (
        draft.set("instance_groups", WORK, "deep_health_checks", ["InstanceConnectivity"])
        .set("instance_groups", WORK, "instance_count", 1)
        .set("wait_hours", 3)
    ),
    "deep-health-checks-with-slurm": lambda draft: draft.set(
        "instance_groups", WORK, "deep_health_checks", ["MultiNodeTrainingValidation"]
    ).set("wait_hours", 3),
    "reserved-partition-name": lambda draft: draft.set("instance_groups", WORK, "partition", "Default"),
    "duplicate-tag-keys": lambda draft: draft.set("tags", {"Team": "vision", "team": "speech"}),
}
