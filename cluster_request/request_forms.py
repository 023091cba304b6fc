"""What the service model's patterns ask for, in words, each with an example."""

import re
from collections.abc import Callable
from typing import NamedTuple


def _unchanged(value: str) -> str:
    return value


def _hyphenated(value: str) -> str:
    return re.sub("[^a-zA-Z0-9]+", "-", value).strip("-")


class RequestForm(NamedTuple):
    """What a shape's pattern asks for, an example, and how to make it of a value that is nearly so."""

    words: str
    example: str
    repair: Callable[[str], str] = _unchanged


_NAME = RequestForm("must have letters, digits and hyphens alone, with no hyphen at either end", "gpus-1", _hyphenated)
_FILE = RequestForm("must be a file's name", "on_create.sh")
_ROLE = RequestForm("must be a role's ARN", "arn:aws:iam::123456789012:role/nodes")
_KEY = RequestForm("must be a label's key as Kubernetes has them: letters, digits, - _ . in the middle", "example.com/team")
_VALUE = RequestForm("must be a label's value as Kubernetes has them: letters, digits, - _ . in the middle", "speech-1")
_TAG = RequestForm("must have letters, digits, blanks and _ . : / = + - @ alone", "team:speech")

# By the shape's name in the service model; a test compares with CreateCluster's shapes, and each example with its pattern.
FORMS: dict[str, RequestForm] = {
    "ClusterName": _NAME,
    "ClusterInstanceGroupName": _NAME,
    "ClusterPartitionName": _NAME,
    "ClusterLifeCycleConfigFileName": _FILE,
    "S3Uri": RequestForm("must be a prefix's address in S3", "s3://sagemaker-scripts/base-config/"),
    "RoleArn": _ROLE,
    "KmsKeyId": RequestForm("must be a KMS key's id, ARN or alias", "alias/volumes"),
    "ClusterDnsName": RequestForm("must be a file system's DNS name", "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"),
    "ClusterMountName": RequestForm("must have 1 to 8 letters, digits, hyphens and underscores", "abcdefgh"),
    "ClusterFsxMountPath": RequestForm("must be a folder, with letters, digits and . _ - / alone", "/shared"),
    "TrainingPlanArn": RequestForm(
        "must be a training plan's ARN", "arn:aws:sagemaker:us-west-2:123456789012:training-plan/p5-in-spring"
    ),
    "SecurityGroupId": RequestForm("must be a security group's id", "sg-0123456789abcdef0"),
    "SubnetId": RequestForm("must be a subnet's id", "subnet-0123456789abcdef0"),
    "AlarmName": RequestForm("must be an alarm's name, and not blank", "nodes-that-fail"),
    "ImageId": RequestForm("must be an image's id, or `default`", "ami-0123456789abcdef0", str.lower),
    "ImageReleaseVersion": RequestForm("must be a release in three numbers", "1.2.3"),
    "ClusterKubernetesLabelKey": _KEY,
    "ClusterKubernetesLabelValue": _VALUE,
    "ClusterKubernetesTaintKey": _KEY,
    "ClusterKubernetesTaintValue": _VALUE,
    "TagKey": _TAG,
    "TagValue": _TAG,
    "EksClusterArn": RequestForm("must be an EKS cluster's ARN", "arn:aws:eks:us-west-2:123456789012:cluster/ml"),
    "ClusterAccountingDatabaseEndpoint": RequestForm("must be a host's name, without a port", "slurm.example.com"),
    "ClusterAccountingDatabaseName": RequestForm("must have letters, digits, $ and _ alone", "slurm_acct"),
    "ClusterAccountingDatabaseSecretArn": RequestForm(
        "must be a secret's ARN", "arn:aws:secretsmanager:us-west-2:123456789012:secret:slurm-AbCdEf"
    ),
}


def wrong_form(shape: str, pattern: str, value: str) -> str:
    """What the pattern of the shape asks of the value, and the remedy."""
    form = FORMS.get(shape)
    if form is None:
        return f"must match {pattern}; write it in that form"
    better = form.repair(value)
    is_better = better != value and re.fullmatch(pattern, better) if form.repair is not _unchanged else None
    return f"{form.words}; {f'did you mean {better}?' if is_better else f'write it like {form.example}'}"
