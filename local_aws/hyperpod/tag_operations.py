"""Tags of clusters, which DescribeCluster does not show; those of other resources are left to moto."""

from local_aws.errors import AwsError
from local_aws.hyperpod.lookup import tag_context
from local_aws.hyperpod.model import Cluster, find
from local_aws.json_service import Call, Context, Json, NotOursError, Operation, page

_MOST = 50


def from_list(tags: list[dict[str, str]]) -> dict[str, str]:
    """Tags as a mapping; the same key twice is refused."""
    mapping = {tag["Key"]: tag["Value"] for tag in tags}
    if len(mapping) < len(tags):
        raise AwsError("ValidationException", "tag keys must be unique")
    return mapping


def to_list(tags: dict[str, str]) -> list[dict[str, str]]:
    """Tags as the API lists them."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def check_tags(tags: dict[str, str]) -> None:
    """Refuse AWS's own prefix and more tags than a resource can have."""
    reserved = sorted(key for key in tags if key.lower().startswith("aws:"))
    if reserved:
        raise AwsError("ValidationException", f"tag keys must not start with 'aws:', got {reserved}")
    if len(tags) > _MOST:
        raise AwsError("ResourceLimitExceeded", f"a resource can have {_MOST} tags, got {len(tags)}")


def _cluster(call: Call, asked: Context | None = None) -> Cluster:
    arn = call.request["ResourceArn"]
    if ":cluster/" not in arn:
        raise NotOursError
    cluster = find(call, arn)
    context = tag_context(cluster.tags, "aws:ResourceTag") if cluster else {}
    call.authorize(f"sagemaker:{call.operation}", arn, {**context, **(asked or {})})
    if cluster is None:
        raise AwsError("ValidationException", f"Could not find resource {arn}")
    return cluster


def add_tags(call: Call) -> Json:
    """Add or change tags; all of the cluster's come back."""
    new = from_list(call.request["Tags"])
    cluster = _cluster(call, tag_context(new, "aws:RequestTag"))
    check_tags(new)
    check_tags({**cluster.tags, **new})
    cluster.tags |= new
    return {"Tags": to_list(cluster.tags)}


def list_tags(call: Call) -> Json:
    """The cluster's tags, a page at a time."""
    shown, token = page(call, to_list(_cluster(call).tags))
    return {"Tags": shown, **token}


def delete_tags(call: Call) -> Json:
    """Remove tags; keys that are not there are no error."""
    cluster = _cluster(call, {"aws:TagKeys": call.request["TagKeys"]})
    for key in call.request["TagKeys"]:
        cluster.tags.pop(key, None)
    return {}


OPERATIONS: dict[str, Operation] = {"AddTags": add_tags, "ListTags": list_tags, "DeleteTags": delete_tags}
