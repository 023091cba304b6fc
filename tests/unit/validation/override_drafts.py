"""Parts of drafts with `overrides`."""

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
