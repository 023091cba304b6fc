"""Build a request for every leaf of CreateCluster's input in the pinned boto3."""

from collections.abc import Iterator
from typing import Any

from cluster_request.service_model import Shape, input_shape, shape
from config.errors import Path

CREATE = input_shape("CreateCluster")

# Members whose text has to have a form; other text is the first of its choices, else `sample`.
SAMPLES = {
    "ExecutionRole": "arn:aws:iam::123456789012:role/theirs",
    "ClusterRole": "arn:aws:iam::123456789012:role/theirs",
    "ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/theirs",
    "SecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:theirs-AbCdEf",
    "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:123456789012:training-plan/theirs",
    "SourceS3Uri": "s3://sagemaker-theirs/src",
    "OnCreate": "on_create.sh",
    "OnInitComplete": "on_create.sh",
    "ImageId": "ami-0123456789abcdef0",
    "ImageReleaseVersion": "1.2.3",
    "DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "MountPath": "/data",
    "Subnets": "subnet-0123456789abcdef0",
    "SecurityGroupIds": "sg-0123456789abcdef0",
    "InstanceType": "ml.p5.48xlarge",
    "InstanceTypes": "ml.p5.48xlarge",
}


def leaves(name: str = CREATE, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every leaf, with 0 for list items. Empty structures and maps are leaves."""
    model = shape(name)
    match model["type"]:
        case "structure" if model["members"]:
            for member, below in model["members"].items():
                yield from leaves(below["shape"], (*path, member))
        case "list":
            yield from leaves(model["member"]["shape"], (*path, 0))
        case _:
            yield path


def holding(path: Path, name: str = CREATE, member: str = "") -> Any:
    """Return the smallest value of the shape with the leaf and all required members."""
    model = shape(name)
    match model["type"]:
        case "structure":
            wanted = {*path[:1], *model.get("required", ())}
            shapes = {each: below["shape"] for each, below in model["members"].items() if each in wanted}
            return {each: holding(path[1:] if path[:1] == (each,) else (), below, each) for each, below in shapes.items()}
        case "list":
            return [holding(path[1:], model["member"]["shape"], member)]
    return _scalar(model, member)


def _scalar(model: Shape, member: str) -> Any:
    match model["type"]:
        case "map":
            return {"team": "vision"}
        case "string":
            return SAMPLES.get(member) or next(iter(model.get("enum", ())), "sample")
        case "boolean":
            return True
        case "timestamp":
            return "2027-01-31T12:00:00+00:00"
    return max(model.get("min", 1), 1)


def at(value: Any, path: Path) -> Any:
    """Return the value at the path."""
    for part in path:
        value = value[part]
    return value


def full(name: str, member: str = "") -> Any:
    """Return a value with every leaf of the shape; lists of a union have one item for each member."""
    model = shape(name)
    match model["type"]:
        case "structure":
            return {each: full(below["shape"], each) for each, below in model["members"].items()}
        case "list":
            item = model["member"]["shape"]
            if shape(item).get("union"):
                return [{each: full(below["shape"], each)} for each, below in shape(item)["members"].items()]
            return [full(item, member)]
    return _scalar(model, member)
