"""Describe the service model's patterns, each with an example."""

import re
from collections.abc import Callable
from typing import NamedTuple


def unchanged(value: str) -> str:
    """Return the value."""
    return value


def hyphenated(value: str) -> str:
    """Return the value with hyphens for all other characters than letters and digits."""
    return re.sub("[^a-zA-Z0-9]+", "-", value).strip("-")


class RequestForm(NamedTuple):
    """A format in words, an example, and a function that corrects near misses."""

    words: str
    example: str
    correct: Callable[[str], str] = unchanged


_NAME = RequestForm("must be letters, digits or hyphens, and start and end with a letter or digit", "gpus-1", hyphenated)
_FILE = RequestForm("must be a file name", "on_create.sh")
_ROLE = RequestForm("must be the ARN of a role", "arn:aws:iam::123456789012:role/nodes")
_KEY = RequestForm("must be a Kubernetes label key: letters and digits, with - _ . only in the middle", "example.com/team")
_VALUE = RequestForm("must be a Kubernetes label value: letters and digits, with - _ . only in the middle", "speech-1")
_TAG = RequestForm("must be letters, digits, spaces or _ . : / = + - @", "team:speech")

# By the shape's name in the service model; a test compares with CreateCluster's shapes, and each example with its pattern.
FORMS: dict[str, RequestForm] = {
    "ClusterName": _NAME,
    "ClusterInstanceGroupName": _NAME,
    "ClusterPartitionName": _NAME,
    "ClusterLifeCycleConfigFileName": _FILE,
    "S3Uri": RequestForm("must be an S3 URI", "s3://sagemaker-scripts/base-config/"),
    "RoleArn": _ROLE,
    "KmsKeyId": RequestForm("must be the id, ARN or alias of a KMS key", "alias/volumes"),
    "ClusterDnsName": RequestForm("must be the DNS name of a file system", "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"),
    "ClusterMountName": RequestForm("must be 1-8 letters, digits, hyphens or underscores", "abcdefgh"),
    "ClusterFsxMountPath": RequestForm("must be a path of letters, digits and . _ - /", "/shared"),
    "TrainingPlanArn": RequestForm(
        "must be the ARN of a training plan", "arn:aws:sagemaker:us-west-2:123456789012:training-plan/p5-in-spring"
    ),
    "SecurityGroupId": RequestForm("must be a security group id", "sg-0123456789abcdef0"),
    "SubnetId": RequestForm("must be a subnet id", "subnet-0123456789abcdef0"),
    "AlarmName": RequestForm("must be an alarm name, not blank", "nodes-that-fail"),
    "ImageId": RequestForm("must be an image id, or `default`", "ami-0123456789abcdef0", str.lower),
    "ImageReleaseVersion": RequestForm("must be a version of three numbers", "1.2.3"),
    "ClusterKubernetesLabelKey": _KEY,
    "ClusterKubernetesLabelValue": _VALUE,
    "ClusterKubernetesTaintKey": _KEY,
    "ClusterKubernetesTaintValue": _VALUE,
    "TagKey": _TAG,
    "TagValue": _TAG,
    "EksClusterArn": RequestForm("must be the ARN of an EKS cluster", "arn:aws:eks:us-west-2:123456789012:cluster/ml"),
    "ClusterAccountingDatabaseEndpoint": RequestForm("must be a host name without a port", "slurm.example.com"),
    "ClusterAccountingDatabaseName": RequestForm("must be letters, digits, $ or _", "slurm_acct"),
    "ClusterAccountingDatabaseSecretArn": RequestForm(
        "must be the ARN of a secret", "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"
    ),
}


def wrong_form(shape: str, pattern: str, value: str) -> tuple[str, str]:
    """Describe the shape's format, and suggest a value as the fix."""
    form = FORMS.get(shape)
    if form is None:
        return f"must match {pattern}", "use that format"
    better = form.correct(value)
    is_better = better != value and re.fullmatch(pattern, better) if form.correct is not unchanged else None
    return form.words, f"did you mean {better}?" if is_better else f"use e.g. {form.example}"
