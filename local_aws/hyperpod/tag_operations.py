"""Tags of clusters, quotas and scheduler configs, which Describe does not return; moto handles those of other resources."""

from local_aws.errors import AwsError
from local_aws.hyperpod import governance_model
from local_aws.hyperpod.authorization import tag_context
from local_aws.hyperpod.governance_model import Item
from local_aws.hyperpod.model import Cluster, find
from local_aws.json_service import Call, Context, Json, NotHandledError, Operation, page

_MOST = 50


def from_list(tags: list[dict[str, str]]) -> dict[str, str]:
    """Return tags as a mapping; refuse duplicate keys."""
    mapping = {tag["Key"]: tag["Value"] for tag in tags}
    if len(mapping) < len(tags):
        raise AwsError("ValidationException", "tag keys must be unique")
    return mapping


def to_list(tags: dict[str, str]) -> list[dict[str, str]]:
    """Return tags in the API's form."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def check_tags(tags: dict[str, str]) -> None:
    """Refuse AWS's reserved prefix and too many tags."""
    reserved = sorted(key for key in tags if key.lower().startswith("aws:"))
    if reserved:
        raise AwsError("ValidationException", f"tag keys must not start with 'aws:', got {reserved}")
    if len(tags) > _MOST:
        raise AwsError("ResourceLimitExceeded", f"a resource can have {_MOST} tags, got {len(tags)}")


def _tagged(call: Call, request_context: Context | None = None) -> Cluster | Item:
    arn = call.request["ResourceArn"]
    if ":cluster/" not in arn and not governance_model.is_arn(arn):
        raise NotHandledError
    cluster = governance_model.by_arn(arn) if governance_model.is_arn(arn) else find(call, arn)
    context = tag_context(cluster.tags, "aws:ResourceTag") if cluster else {}
    call.authorize(f"sagemaker:{call.operation}", arn, {**context, **(request_context or {})})
    if cluster is None:
        raise AwsError("ValidationException", f"Could not find resource {arn}")
    return cluster


def add_tags(call: Call) -> Json:
    """Add or change tags, and return all tags of the cluster."""
    new = from_list(call.request["Tags"])
    cluster = _tagged(call, tag_context(new, "aws:RequestTag"))
    check_tags(new)
    check_tags({**cluster.tags, **new})
    cluster.tags |= new
    return {"Tags": to_list(cluster.tags)}


def list_tags(call: Call) -> Json:
    """Return the cluster's tags, in pages."""
    shown, token = page(call, to_list(_tagged(call).tags))
    return {"Tags": shown, **token}


def delete_tags(call: Call) -> Json:
    """Remove tags; ignore unknown keys."""
    cluster = _tagged(call, {"aws:TagKeys": call.request["TagKeys"]})
    for key in call.request["TagKeys"]:
        cluster.tags.pop(key, None)
    return {}


OPERATIONS: dict[str, Operation] = {"AddTags": add_tags, "ListTags": list_tags, "DeleteTags": delete_tags}
