"""Pages of lists, by EKS's names of the parameters."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from local_aws.eks.errors import invalid
from local_aws.errors import AwsError
from local_aws.json_service import Call, page

_Item = TypeVar("_Item")


def list_page(call: Call, items: Sequence[_Item]) -> tuple[list[_Item], dict[str, str]]:
    """Return the page that the call's maxResults and nextToken select, with a nextToken if there are more."""
    given = {"MaxResults": call.request.get("maxResults"), "NextToken": call.request.get("nextToken")}
    try:
        shown, token = page(replace(call, request=given), items)
    except AwsError as error:
        raise invalid(error.message) from error
    return shown, {"nextToken": token["NextToken"]} if token else {}
