"""A value for each optional member of a request that a file can remove."""

from typing import Any

GROUP: dict[str, Any] = {
    "AutoPatchConfig": {"PatchingStrategy": "WhenIdle"},
    "ImageId": "ami-0fedcba9876543210",
    "ImageReleaseVersion": "1.2.3",
    "InstanceStorageConfigs": [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}],
    "KubernetesConfig": {"Labels": {"team": "a"}, "Taints": [{"Key": "k", "Value": "v", "Effect": "NoSchedule"}]},
    "MinInstanceCount": 3,
    "NetworkInterface": {"InterfaceType": "efa-only"},
    "OnStartDeepHealthChecks": ["InstanceStress"],
    "OverrideVpcConfig": {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0123456789abcdef0"]},
    "ScheduledUpdateConfig": {"ScheduleExpression": "cron(0 0 * * ? *)"},
    "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:123456789012:training-plan/plan",
}
CLUSTER: dict[str, Any] = {
    "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"},
    "NodeRecovery": "Automatic",
    "TieredStorageConfig": {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 20},
}
REFUSED = GROUP.keys() - {"InstanceStorageConfigs", "KubernetesConfig"}
