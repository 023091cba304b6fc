"""For each rule about `overrides` and other places, a draft that breaks it alone."""

from collections.abc import Callable
from typing import Any

WORK = 2
"""The place of the draft's compute group."""

EBS = "EbsVolumeConfig"
PLAN = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/ours"
KEY = "key/01234567-89ab-cdef-0123-456789abcdef"
SECRET = "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"
LUSTRE = {"DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "MountName": "abcdefgh"}
NETWORK = {"Subnets": ["subnet-0123456789abcdef0"], "SecurityGroupIds": ["sg-0123456789abcdef0"]}
ROLE = "arn:aws:iam::123456789012:role/theirs"
THEIR_SCRIPTS = {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-theirs/src"}, "ExecutionRole": ROLE}


def of_work(draft: Any, name: str, value: Any) -> Any:
    """The draft whose compute group overrides a member."""
    return draft.set("instance_groups", WORK, "overrides", name, value)


def accounting(draft: Any, **values: str) -> Any:
    """The draft with an external accounting database."""
    external = {"database": "external", "host": "db.example.com", "secret_arn": SECRET}
    return draft.set("slurm", "accounting", {**external, **values})


def continuous(draft: Any) -> Any:
    """The draft with continuous provisioning as HyperPod takes it."""
    for index, role in enumerate(("Controller", "Login", "Compute")):
        slurm = {"NodeType": role, **({"PartitionNames": ["dev"]} if role == "Compute" else {})}
        draft.set("instance_groups", index, "overrides", {**THEIR_SCRIPTS, "SlurmConfig": slurm})
    return draft.set("overrides", "NodeProvisioningMode", "Continuous")


OVERRIDE_BREAKERS: dict[str, Callable[[Any], object]] = {
    "field-or-override": lambda draft: of_work(draft, "InstanceType", "ml.p5.48xlarge"),
    "one-way-to-name-types": lambda draft: of_work(draft, "InstanceRequirements", {"InstanceTypes": ["ml.p5.48xlarge"]}),
    "one-lifecycle-script": lambda draft: of_work(draft, "LifeCycleConfig", {"OnInitComplete": "on_create.sh"}),
    "types-of-training-plans": lambda draft: of_work(draft, "TrainingPlanArn", PLAN).set(
        "instance_groups", WORK, "instance_type", "ml.g5.8xlarge"
    ),
    "training-plans-of-compute-groups": lambda draft: draft.set("instance_groups", 1, "instance_type", "ml.p5.4xlarge").set(
        "instance_groups", 1, "overrides", "TrainingPlanArn", PLAN
    ),
    "one-source-of-capacity": lambda draft: continuous(draft).set(
        "instance_groups", WORK, "overrides", "CapacityRequirements", {"Spot": {}, "OnDemand": {}}
    ),
    "spot-for-compute-groups": lambda draft: continuous(draft).set(
        "instance_groups", 1, "overrides", "CapacityRequirements", {"Spot": {}}
    ),
    "ids-in-overrides": lambda draft: of_work(draft, "OverrideVpcConfig", {**NETWORK, "Subnets": ["private-a"]}),
    "subnets-and-groups-once": lambda draft: of_work(
        draft, "OverrideVpcConfig", {**NETWORK, "SecurityGroupIds": ["sg-01234567"] * 2}
    ),
    "vpc-of-the-file": lambda draft: draft.set("overrides", "VpcConfig", NETWORK),
    "vpc-for-groups-and-storage": lambda draft: draft.set("overrides", "VpcConfig", None),
    "efa-within-a-partition": lambda draft: draft.content["instance_groups"].append(
        {**draft.content["instance_groups"][WORK], "name": "more", "overrides": {"OverrideVpcConfig": NETWORK}}
    ),
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
    "slurm-config-as-the-role": lambda draft: continuous(draft).set(
        "instance_groups", WORK, "overrides", "SlurmConfig", {"NodeType": "Login"}
    ),
    "role-for-other-scripts": lambda draft: of_work(draft, "LifeCycleConfig", {"SourceS3Uri": "s3://sagemaker-theirs/src"}),
    "one-image": lambda draft: of_work(draft, "ImageReleaseVersion", "1.2.3").set(
        "instance_groups", WORK, "overrides", "ImageId", "ami-0123456789abcdef0"
    ),
    "continuous-provisioning": lambda draft: draft.set("overrides", "NodeProvisioningMode", "Continuous"),
    "needs-continuous-provisioning": lambda draft: of_work(draft, "MinInstanceCount", 2),
    "slurm-without-kubernetes": lambda draft: of_work(draft, "KubernetesConfig", {"Labels": {"team": "vision"}}),
    "patching-by-its-strategy": lambda draft: of_work(
        draft, "AutoPatchConfig", {"PatchingStrategy": "DrainFirst", "IdleWaitWindowInSeconds": 3600}
    ),
    "topic-of-the-region": lambda draft: draft.set("alarm_topic_arn", "arn:aws:sns:us-east-1:123456789012:alarms"),
    "secret-of-the-place": lambda draft: accounting(draft, secret_arn=SECRET.replace("us-west-2", "us-east-1")),
    "database-of-the-region": lambda draft: accounting(draft, host="slurm.cluster-abc.us-east-1.rds.amazonaws.com"),
    "key-of-the-secret": lambda draft: accounting(draft, secret_key_arn=f"arn:aws:kms:us-east-1:123456789012:{KEY}"),
    "openzfs-of-the-region": lambda draft: draft.set(
        "storage", "openzfs", "dns_name", "fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com"
    ),
    "partition-of-arns": lambda draft: of_work(draft, "ExecutionRole", ROLE.replace("arn:aws:", "arn:aws-us-gov:")),
    "training-plan-of-the-account": lambda draft: of_work(draft, "TrainingPlanArn", PLAN).set("account", "210987654321"),
    "training-plan-of-the-region": lambda draft: of_work(draft, "TrainingPlanArn", PLAN.replace("us-west-2", "us-east-1")),
    "roles-of-the-account": lambda draft: of_work(draft, "ExecutionRole", "arn:aws:iam::210987654321:role/theirs").set(
        "account", "123456789012"
    ),
    "volume-keys-of-the-region": lambda draft: of_work(
        continuous(draft),
        "InstanceStorageConfigs",
        [{EBS: {"RootVolume": True, "VolumeKmsKeyId": f"arn:aws:kms:us-east-1:123456789012:{KEY}"}}],
    ),
    "size-and-key-of-volumes": lambda draft: of_work(draft, "InstanceStorageConfigs", [{EBS: {"RootVolume": True}}]),
    "storage-once-of-each-kind": lambda draft: of_work(draft, "InstanceStorageConfigs", [{EBS: {"VolumeSizeInGB": 500}}] * 2),
    "mount-points": lambda draft: of_work(continuous(draft), "InstanceStorageConfigs", [{"FsxLustreConfig": LUSTRE}]),
    "mounts-by-hyperpod": lambda draft: of_work(
        draft, "InstanceStorageConfigs", [{"FsxLustreConfig": {**LUSTRE, "MountPath": "/shared"}}]
    ),
    "slurm-conf-of-own-scripts": lambda draft: continuous(draft).set(
        "overrides", {"Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Overwrite"}}}
    ),
    "checks-between-nodes": lambda draft: (
        draft.set("instance_groups", WORK, "deep_health_checks", ["InstanceConnectivity"])
        .set("instance_groups", WORK, "instance_count", 1)
        .set("wait_hours", 3)
    ),
    "checks-of-slurm-clusters": lambda draft: draft.set(
        "instance_groups", WORK, "deep_health_checks", ["MultiNodeTrainingValidation"]
    ).set("wait_hours", 3),
    "partition-names": lambda draft: draft.set("instance_groups", WORK, "partition", "Default"),
    "tags-apart-without-their-case": lambda draft: draft.set("tags", {"Team": "vision", "team": "speech"}),
}
