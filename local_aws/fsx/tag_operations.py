"""Tags of file systems and associations, also as condition keys; moto handles the tags of other resources."""

from local_aws.fsx.model import Association, FileSystem, associations, file_systems, tag_list, tags_from
from local_aws.json_service import Call, Context, Json, NotHandledError, Operation, page, tag_context


def request_context(request: Json) -> Context:
    """Return the condition keys of the request's tags."""
    return tag_context(tags_from(request), "aws:RequestTag")


def _tagged(call: Call) -> FileSystem | Association:
    arn = call.request["ResourceARN"]
    things: list[FileSystem | Association] = [*file_systems(call), *associations(call)]
    for thing in things:
        if thing.arn == arn:
            call.authorize(
                f"fsx:{call.operation}", arn, {**tag_context(thing.tags, "aws:ResourceTag"), **request_context(call.request)}
            )
            return thing
    raise NotHandledError


def tag_resource(call: Call) -> Json:
    """Add or change tags."""
    _tagged(call).tags |= tags_from(call.request)
    return {}


def untag_resource(call: Call) -> Json:
    """Remove tags; ignore unknown keys."""
    thing = _tagged(call)
    for key in call.request["TagKeys"]:
        thing.tags.pop(key, None)
    return {}


def list_tags_for_resource(call: Call) -> Json:
    """Return the resource's tags, in pages."""
    shown, token = page(call, tag_list(_tagged(call).tags))
    return {"Tags": shown, **token}


OPERATIONS: dict[str, Operation] = {
    "TagResource": tag_resource,
    "UntagResource": untag_resource,
    "ListTagsForResource": list_tags_for_resource,
}
